"""What of a statement counts where two are compared."""

# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations import corrected
from nightschool.rules.corrections import corrections
from nightschool.rules.gist import gist


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("always run the tests before you commit", "Always run the tests before committing"),
        ("you should always run the tests before you commit!", "Please always run tests before committing."),
        ("Don't add comments to code", "please never add comments to the code"),
        ("stop adding comments to the code", "you must not add comments to the code"),
        ("Nunca hagas commit sin preguntar", "nunca hagas un commit sin preguntarme"),
        ("不要自动提交代码", "别自动提交代码"),
        ("no hagas nunca commit sin preguntar", "no hagas commit sin preguntar"),
        ("Никогда не добавляй комментарии", "не добавляйте комментарий"),
        ("always commit", "from now on always commit"),
        ("always avoid asking first", "never ask first"),
        ("以后一律不要自动提交代码", "不要自动提交代码"),
    ],
)
def test_the_same_in_other_words(one: str, other: str) -> None:
    """Politeness, grammar, endings and which marker was used do not matter."""
    assert gist(one) == gist(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("always use the new client", "never use the new client"),
        ("always ask first", "always avoid asking first"),
        ("never stop running the tests", "stop running the tests"),
        ("don't commit if the tests pass", "don't commit if the tests don't pass"),
        ("use the new client, not the old client", "use the old client, not the new client"),
        ("immer die Tests laufen lassen", "nie die Tests laufen lassen"),
        ("总是自动提交代码", "不要自动提交代码"),
        ("Lance toujours les tests", "Ne lance jamais les tests"),
        ("I said always squash the commits", "I said never squash the commits"),
        ("必ずテストを実行して", "絶対にテストを実行しないで"),
    ],
)
def test_opposites_differ(one: str, other: str) -> None:
    """What forbids is never like what asks for it, and a negation further in stays."""
    assert gist(one) != gist(other)


def test_opposite_reproaches_are_two() -> None:
    """A reproach goes one way too: it is never joined with its opposite."""
    texts = ("I said always squash the commits", "I said never squash the commits")
    assert len(corrections([corrected(str(n), f"Job {n}", text, day=n) for n, text in enumerate(texts)])) == 2


WAYS = {
    "en": (
        ["always", "please always", "you must always", "you should always"],
        ["never", "don't", "you must never"],
    ),
    "de": (["immer", "bitte immer", "du sollst immer"], ["nie", "bitte niemals", "du sollst nie"]),
    "es": (["siempre", "debes siempre"], ["nunca", "por favor nunca", "no debes nunca"]),
    "ru": (["всегда", "пожалуйста, всегда"], ["никогда не", "не", "пожалуйста, не"]),
    "zh": (["总是", "请务必"], ["不要", "别", "请不要"]),
}
DEEDS = {
    "en": ["squash the commits", "run the tests", "mock the database", "edit the lockfile"],
    "de": ["die Commits zusammenfassen", "die Tests starten", "den Ordner leeren"],
    "es": ["unir los commits", "ejecutar las pruebas", "tocar la carpeta"],
    "ru": ["объединять коммиты", "запускать тесты", "трогать папку"],
    "zh": ["自动提交代码", "运行全部测试", "修改配置文件"],
}


@st.composite
def _statements(draw: st.DrawFn) -> tuple[str, bool, str]:
    """(the statement, whether it forbids, what it is about)."""
    language = draw(st.sampled_from(sorted(WAYS)))
    forbids = draw(st.booleans())
    way, deed = draw(st.sampled_from(WAYS[language][forbids])), draw(st.sampled_from(DEEDS[language]))
    gap = "" if language == "zh" else " "
    return f"{way}{gap}{deed}", forbids, deed


@settings(deadline=None)
@given(_statements(), _statements())
def test_joined_where_deed_and_way_agree_and_only_there(
    one: tuple[str, bool, str], other: tuple[str, bool, str]
) -> None:
    """Joining is symmetric, keeps the polarity, and asks for the same deed."""
    (text, forbids, deed), (text_2, forbids_2, deed_2) = one, other
    assert gist(text).forbids is forbids
    same = gist(text) == gist(text_2)
    assert same is (forbids is forbids_2 and deed == deed_2)
    sessions = [corrected("a", "Rename the loader", text), corrected("b", "Sort the list", text_2, day=1)]
    assert corrections(sessions) == corrections(sessions[::-1])


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_gist(text: str) -> None:
    """No text breaks it, and case and the kind of apostrophe change nothing."""
    assert gist(text) == gist(text.replace("'", "’"))
