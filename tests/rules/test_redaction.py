from __future__ import annotations

import json
import re
import string
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.rules.redaction import Redactor
from nightschool.rules.secret_places import Places
from nightschool.rules.secret_services import MARKED, SHAPES, Around, Shape
from nightschool.rules.secret_values import is_secret_name
from secret_texts import CLEAN, PEM, PIECES, PLANTED

KEY = b"a key of the tests, 32 bytes long"
STAND_IN = re.compile(r"\[secret:[a-z]+:[0-9a-f]{6}\]")
MIXED = "aB3xK9mQ2zT7wL5r" * 8


def redactor() -> Redactor:
    return Redactor(KEY)


@pytest.mark.parametrize(("text", "gone", "stays"), PLANTED)
def test_planted_secret_goes_and_the_rest_stays(text: str, gone: str, stays: str) -> None:
    """B52: a secret of each kind is replaced by a stand-in and the text around it stays usable."""
    redacted = redactor()(text)
    assert gone not in redacted
    assert stays in redacted
    assert STAND_IN.search(redacted)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.prefix)
@pytest.mark.parametrize(
    "around", ["{}", "x={} y", '"{}"', "first\\n{}\\n", "é{}.", "\\u00e9{}.", "n{}\\n", "u00e9{}."]
)
def test_each_shape_of_the_table_is_found(shape: Any, around: str) -> None:
    """Each provider's token is found bare, quoted, assigned, behind an escaped line end and behind a letter
    that is not ASCII, escaped or not; also where the text was cut within that escape."""
    token = shape.example(Random(shape.prefix))
    redacted = redactor()(around.format(token))
    assert token.removeprefix(shape.prefix) not in redacted
    assert STAND_IN.search(redacted)


@pytest.mark.parametrize("shape", MARKED, ids=lambda shape: shape.mark)
@pytest.mark.parametrize("around", ["{}", "x={} y", '"{}"', "é{}.", "first\\n{}\\n"])
def test_each_shape_with_a_mark_in_it_is_found(shape: Any, around: str) -> None:
    """So are those that no prefix tells, whole."""
    token = shape.example(Random(shape.mark))
    redacted = redactor()(around.format(token))
    stand_in = STAND_IN.search(redacted)
    assert stand_in
    assert redacted == around.format(stand_in.group())


def test_the_table_names_sixty_services_and_more_with_their_sources() -> None:
    """Each row says where its shape is published; the kinds are what a stand-in can name."""
    assert len({shape.kind for shape in SHAPES} | {shape.kind for shape in MARKED}) >= 100
    told: list[Shape | Around] = [*SHAPES, *MARKED]
    for shape in told:
        assert re.fullmatch(r"[a-z]{1,24}", shape.kind)
        assert re.fullmatch(r"(?:gitleaks|kingfisher):\S+|[a-z0-9.-]+\.[a-z]+(?:/\S*)?", shape.source)
        assert shape.source.count("/") or ":" in shape.source
    keys = [(shape.prefix, shape.body) for shape in SHAPES]
    assert sorted(set(keys)) == sorted(keys)


@pytest.mark.parametrize("text", CLEAN)
def test_clean_text_is_untouched(text: str) -> None:
    """Prose about security, code that handles secrets, digests, ids and images stay as they are."""
    assert redactor()(text) == text


def test_same_secret_same_stand_in() -> None:
    """B53: a secret read in a tool's output has the same stand-in wherever it is said again, in another
    process with the same key too, and another one under another key."""
    redact = redactor()
    env = redact("DB_PASSWORD=hunter2xyz\n")
    stand_in = STAND_IN.search(env)
    assert stand_in
    echo = redact("I see hunter2xyz there, and postgres://app:hunter2xyz@db/x")
    assert STAND_IN.findall(echo) == [stand_in.group()] * 2
    assert redactor()('{"password": "hunter2xyz"}') == f'{{"password": "{stand_in.group()}"}}'
    assert Redactor(KEY[::-1])("DB_PASSWORD=hunter2xyz\n") != env


@pytest.mark.parametrize("part", [slice(None, 54), slice(54, None), slice(30, 90)])
def test_half_of_a_key_is_known_again(part: slice) -> None:
    """B53: a later row that repeats half of a key gets the stand-in of the whole key."""
    redact = redactor()
    key = "sk-ant-api03-" + "".join(c for i, c in enumerate(MIXED * 2) if i % 3)[:94] + "A"
    whole = redact(f"ANTHROPIC_API_KEY={key}")
    assert redact(f"the key {key[part]} it is") == f"the key {whole.partition('=')[2]} it is"


@pytest.mark.parametrize("wrap", ["\n", "\r\n", "\n    ", "\\\n", "\\n", "\\r\\n"])
def test_a_token_that_was_broken_in_lines(wrap: str) -> None:
    """What a terminal or a backslash broke in lines is one secret, with the stand-in of the whole."""
    token = "sk-ant-api03-Zx9Kq2Lm8Rt5Wv1Yb4Nc7Hd0Gf3Js6Pa-Qe2Ui8Oz5Xl1Mk4Vn7Bt0Cy3Dw6Ea9Rg_Ho2Ip5Jq8Kr1Ls"
    redact = redactor()
    whole = redact(token)
    assert redact(f"a {token[:40]}{wrap}{token[40:70]}{wrap}{token[70:]} b") == f"a {whole} b"


def test_what_follows_a_token_on_the_next_line_stays() -> None:
    """Another secret keeps its own stand-in, a name, a word or a digest stays."""
    first, second = "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "glpat-ABCDEFGHIJ1234567890"
    redact = redactor()
    one, two = redact(first), redact(second)
    assert redact(f"{first}\n{second}") == f"{one}\n{two}"
    for line in (
        "Settings_Of_Server2=1",
        "TestOfLogin2Factors()",
        "src/Main2Window.py and more",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "anotherwordthatislong",
    ):
        assert redact(f"{first}\n{line}") == f"{one}\n{line}"


def test_ordinary_words_are_not_remembered() -> None:
    """A password that is a plain word is cut out where it is named and does not eat the word elsewhere."""
    redact = redactor()
    assert "postgres" not in redact("POSTGRES_PASSWORD=postgres\n")
    assert redact("start postgres") == "start postgres"


def test_memory_is_bounded() -> None:
    """However many secrets pass by, the number that is remembered stays the same."""
    redact = redactor()
    redact("".join(f"X_TOKEN=value{number:05d}z\n" for number in range(500)))
    assert len(redact._memory._kept) == 200
    assert "value00499z" not in redact("bare value00499z")


def test_nested_values_keep_their_shape() -> None:
    """Parsed JSON is redacted by the names of its keys, keys too, without changing its shape."""
    found = redactor().nested(
        {
            "password": "hunter",
            "env": [{"name": "DB_PASSWORD", "value": "correcthorse"}, {"name": "PORT", "value": "80"}],
            "max_tokens": 4096,
            "apiKey": ["q1w2e3r4t5", None, True],
            "note": "mail jane@corp.io",
            "jane@corp.io": 1,
            "token": "string",
        }
    )
    assert list(found)[:5] == ["password", "env", "max_tokens", "apiKey", "note"]
    assert STAND_IN.fullmatch(found["password"])
    assert STAND_IN.fullmatch(found["env"][0]["value"])
    assert found["env"][1] == {"name": "PORT", "value": "80"}
    assert found["max_tokens"] == 4096
    assert STAND_IN.fullmatch(found["apiKey"][0])
    assert found["apiKey"][1:] == [None, True]
    assert "jane" not in json.dumps(found)
    assert found["token"] == "string"


def test_nested_deeper_than_the_stack() -> None:
    """JSON nested deeper than Python's stack is redacted all the same."""
    deep: Any = "mail jane@corp.io"
    for _ in range(5000):
        deep = [deep]
    found = redactor().nested(deep)
    while isinstance(found, list):
        found = found[0]
    assert "jane" not in found


def test_json_stays_well_formed() -> None:
    """A secret inside JSON text, escapes around it, leaves the text valid JSON."""
    text = json.dumps({"a": 'x\njane@corp.io\n"', "b": 'PASSWORD="hunter2xyz"\nTOKEN=q1w2e3r4\n', "c": PEM})
    assert json.loads(redactor()(text)).keys() == {"a", "b", "c"}


def test_key_must_be_long() -> None:
    """A key that can be guessed is refused: stand-ins would give the secrets away."""
    with pytest.raises(ValueError, match="16 bytes"):
        Redactor(b"short")


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        (b"DB_PASSWORD", True),
        (b"apiKey", True),
        (b"client-secret", True),
        (b"SECRET_KEY_BASE", True),
        (b"GITHUB_TOKEN", True),
        (b"token2", True),
        (b"max_tokens", False),
        (b"token_count", False),
        (b"secretName", False),
        (b"tokenizer", False),
        (b"key", False),
        (b"", False),
    ],
)
def test_secret_names(name: bytes, secret: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A name is secret-like by its last words, not by a word in it."""
    assert is_secret_name(name) is secret


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_redaction_is_idempotent(text: str) -> None:
    """What was redacted once is not changed by a second time, whatever stands side by side."""
    redact = redactor()
    once = redact(text)
    assert redact(once) == once


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_stand_ins_are_never_touched(text: str) -> None:
    """A stand-in that is already in the text is in the result, unchanged."""
    given_in = [found for found in STAND_IN.findall(text) if found == "[secret:credential:abcdef]"]
    assert len([f for f in STAND_IN.findall(redactor()(text)) if f == "[secret:credential:abcdef]"]) == len(
        given_in
    )


@given(st.text(alphabet=string.ascii_lowercase + " .,;!?äß漢\n", max_size=200))
def test_plain_words_are_untouched(text: str) -> None:
    """Words and punctuation without digits, signs of assignment or addresses hold no secret."""
    assert redactor()(text) == text


@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_text_is_accepted(text: str) -> None:
    """Lone surrogates, NUL and all else is read without an error."""
    assert isinstance(redactor()(text), str)


@pytest.mark.parametrize(
    "piece",
    [
        "A-",
        "sk-",
        "-eyJaaaaaaaaaa",
        "a@",
        "://a:b",
        "password=",
        "mysql -p",
        " -pabcd",
        "token aB3xK9mQ ",
        "DE89 3704 0044 0532 0130 ",
        "DE89370400440532",
        "mot de passe est ",
        "pass",
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ.",
        '"',
        "=aB3xK9mQ2zT7wL5rPq8Yv4",
        '="aB3xK9mQ2zT7wL5rPq8Yv4"',
        "k=aB3xK9mQ2zT7wL5rPq8Yv4/",
        "a:b@tcp(",
        "login a password b ",
        ":5432:a:b:c",
        "$2y$10$aaaaaaaaaaaaaaaaaaaa",
        "oracle:thin:a/bcd",
        "LS0tLS1CRUdJTi",
        "Private-Lines: 1\n",
        "aB38Q~",
        "-us1",
        "\tTRUE\t0\ta\tb",
        "https://h/p?key=",
        "4b1d",
    ],
)
def test_work_grows_with_the_length(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text made to be slow costs a number of judgements that grows no faster than its length."""
    from nightschool.rules.secret_scan import Scan  # noqa: PLC0415 - counted here alone

    judged = 0
    judge = Scan._judge

    def counted(self: Scan, start: int, end: int) -> int:
        nonlocal judged
        judged += 1
        return judge(self, start, end)

    monkeypatch.setattr(Scan, "_judge", counted)
    redactor()(piece * 1000)
    small, judged = judged, 0
    redactor()(piece * 4000)
    assert judged <= 4 * small + 8


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("see /home/marguerite/app/a.py", "see /home/{}/app/a.py"),
        ("in /Users/marguerite", "in /Users/{}"),
        ('{"cwd": "C:\\\\Users\\\\marguerite\\\\app"}', '{"cwd": "C:\\\\Users\\\\{}\\\\app"}'),
        ("projects/-home-marguerite-app/x", "projects/-home-{}-app/x"),
        ("sam@Nighthawk:~$ ls on nighthawk.local", "sam@{}:~$ ls on {}.local"),
        ("/home/marguerite/app", "/home/marguerite/app"),
        (
            "see /home/runner/work and /Users/Shared, nighthawks",
            "see /home/runner/work and /Users/Shared, nighthawks",
        ),
    ],
)
def test_names_of_homes_and_machines_are_hidden_where_that_is_wanted(text: str, hidden: str) -> None:
    """In any text, escaped or not; a path alone stays: a task begins there; unasked nothing is hidden."""
    redact = Redactor(KEY, Places(homes=True, hosts=("nighthawk",)))
    once = redact(text)
    assert STAND_IN.sub("{}", once) == hidden.replace("{{}}", "{}")
    assert redact(once) == once
    assert redactor()(text) == text
