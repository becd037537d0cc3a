"""Judging: whole words, no score for what was lost, plain notes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.core.jobs import Delivered, Failed, FileChange, Reason
from nightschool.core.sessions import CallStatus, ToolCall
from nightschool.core.tasks import Check, Footprint, Touched
from nightschool.rules.checking import JUDGE_VERSION, idle_passes, judge
from nightschool.rules.footprints import holds_term

PNPM = Footprint(wanted="pnpm", unwanted="npm")


def ran(command: str, status: CallStatus = CallStatus.OK) -> ToolCall:
    return ToolCall(call_id=command, name="Bash", command=command, status=status)


def wrote(path: str, added: str = "") -> FileChange:
    return FileChange(path=path, content=added.encode(), added=added)


@pytest.mark.parametrize(
    ("text", "term", "held"),
    [
        ("pnpm install", "npm", False),
        ("npm install", "npm", True),
        ("NPM install", "npm", True),
        ("os.pathsep", "os.path", False),
        ("os.path.join(a)", "os.path", True),
        ("pnpm npm", "npm", True),
        ("git commit --no-verify", "--no-verify", True),
        ("x--no-verify", "--no-verify", True),
        ("日志要用logger打印", "logger", True),
        ("记录日志到文件", "日志", True),
        ("my_npm", "npm", False),
        ("npm", "npm", True),
        ("font-size: 1.3rem;", "rem", True),
        ("margin: 0 -12px", "px", True),
        ("10MS", "ms", True),
        ("calc(100vh - 2rem)", "vh", True),
        ("theorem 1", "rem", False),
        ("h3rem", "rem", False),
        ("v1.3rem", "rem", False),
        ("1_3rem", "rem", False),
        ("12px3", "px", False),
        ("...rem", "rem", True),
        ("3x2", "x2", False),
    ],
)
def test_terms_are_found_as_whole_words(text: str, term: str, held: bool) -> None:  # noqa: FBT001 - a case
    """A term is found by whole words, case folded; ends that are no word characters match plainly."""
    assert holds_term(text, term) is held


@given(st.text(max_size=40), st.text(min_size=1, max_size=5), st.text(max_size=40))
def test_a_term_between_spaces_is_always_found(before: str, term: str, after: str) -> None:
    """A term that stands alone is found, whatever surrounds it."""
    assert holds_term(f"{before} {term} {after}", term)


def test_an_empty_term_is_refused() -> None:
    """A term that every text holds would make a check that always passes."""
    with pytest.raises(ValueError, match="empty term"):
        holds_term("x", "")


def test_all_checks_pass_or_the_score_is_zero() -> None:
    """Metric hard: 1.0 only where each check passes, and the failing ones are named by index."""
    checks: tuple[Check, ...] = (PNPM, Touched(paths=("package.json",)))
    good = Delivered(reply="", files=(wrote("package.json"),), trajectory=(ran("pnpm add x"),))
    assert judge(checks, good).score == 1.0
    half = Delivered(reply="", files=(wrote("other.json"),), trajectory=(ran("pnpm add x"),))
    assert judge(checks, half).score == 0.0
    assert judge(checks, half).failed == (1,)


def test_added_text_of_files_counts_as_footprint() -> None:
    """What the agent wrote into files is searched like the commands that it ran."""
    check = Footprint(wanted="pathlib", unwanted="os.path")
    assert judge((check,), Delivered(reply="", files=(wrote("a.py", "import pathlib\n"),))).score == 1.0
    assert judge((check,), Delivered(reply="", files=(wrote("a.py", "os.path.join\n"),))).score == 0.0


def test_refused_commands_leave_no_footprint() -> None:
    """A command that a person turned down never ran."""
    outcome = Delivered(reply="", trajectory=(ran("npm install", CallStatus.REFUSED), ran("pnpm install")))
    assert judge((PNPM,), outcome).score == 1.0


def test_the_reply_is_no_footprint() -> None:
    """Saying so is not doing so."""
    assert judge((PNPM,), Delivered(reply="I used pnpm")).score == 0.0


@pytest.mark.parametrize("reason", [Reason.INFRASTRUCTURE, Reason.CANCELLED])
def test_a_lost_attempt_has_no_score(reason: Reason) -> None:
    """B24: what failed outside the job is recorded as a loss, never as a zero."""
    assert judge((PNPM,), Failed(reason=reason, message="429")).score is None


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.REFUSED, Reason.BAD_REPLY])
def test_any_other_failure_scores_zero(reason: Reason) -> None:
    """A time-out or a refusal is an outcome of the agent, even where a check would have passed by then."""
    outcome = Failed(reason=reason, message="", trajectory=(ran("pnpm install"),))
    assert judge((PNPM,), outcome).score == 0.0


def test_no_checks_is_an_error() -> None:
    """Nothing to judge by is a fault of the task, not a score."""
    with pytest.raises(ValueError, match="without a check"):
        judge((), Delivered(reply=""))


@given(
    st.lists(
        st.one_of(
            st.builds(
                Footprint, wanted=st.sampled_from(["pnpm", "x"]), unwanted=st.sampled_from(["npm", None])
            ),
            st.just(Footprint(unwanted="npm")),
            st.just(Touched(paths=("a",))),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_doing_nothing_never_passes(checks: list[Check]) -> None:
    """No check of a kind that is mined passes for an agent that did nothing."""
    assert not idle_passes(checks)


def test_only_unwanted_needs_a_change() -> None:
    """A check that only forbids passes where something was changed without it."""
    check = Footprint(unwanted="console.log")
    assert judge((check,), Delivered(reply="", files=(wrote("a.ts", "log.info()"),))).score == 1.0
    assert judge((check,), Delivered(reply="", files=(wrote("a.ts", "console.log()"),))).score == 0.0


@pytest.mark.parametrize(
    "outcome",
    [
        Delivered(reply=""),
        Delivered(reply="", trajectory=(ran("npm ci"),)),
        Delivered(reply="", trajectory=(ran("pnpm ci"),)),
        Failed(reason=Reason.TIMEOUT, message="npm"),
        Failed(reason=Reason.INFRASTRUCTURE, message="npm"),
    ],
)
def test_notes_never_quote_the_check(outcome: Delivered | Failed) -> None:
    """B21: the reason is plain language and holds neither terms nor paths of the check."""
    note = judge((PNPM, Touched(paths=("src/a.py",))), outcome).note
    assert note
    assert "npm" not in note
    assert "src/a.py" not in note


def test_judge_has_a_version() -> None:
    """A wealth names the judge that it rests on."""
    assert JUDGE_VERSION


def test_lines_that_a_patch_takes_away_are_no_footprint() -> None:
    """A command that carries a patch is searched up to the patch; its added lines are in the files."""
    patch = (
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n-import os.path\n+import pathlib\nEOF"
    )
    outcome = Delivered(reply="", files=(wrote("a.py", "import pathlib"),), trajectory=(ran(patch),))
    assert judge((Footprint(wanted="pathlib", unwanted="os.path"),), outcome).score == 1.0


def test_a_unit_behind_its_number_is_judged() -> None:
    """What a style sheet says in `1.3rem` and `12px` is what the person spoke of as rem and px."""
    rem = Footprint(wanted="rem", unwanted="px")
    assert judge((rem,), Delivered(reply="", files=(wrote("a.css", "p { margin: 1.3rem }"),))).score == 1.0
    assert judge((rem,), Delivered(reply="", files=(wrote("a.css", "p { margin: 12px }"),))).score == 0.0


UV = Footprint(wanted="uv run pytest", unwanted="pytest")


@pytest.mark.parametrize(
    ("command", "passes"),
    [
        ("uv run pytest -q", True),
        ("cd app && uv run -q pytest tests", True),
        ("uv run pytest -q\nuv add pytest", True),
        ("uv run pytest && cat pytest.ini", True),
        ("pytest -q", False),
        ("uv run pytest; pytest -q", False),
        ("uv run pytest\ncd app && CI=1 timeout 60 pytest", False),
        ("uv run pytest && .venv/bin/pytest -x", False),
        ("uv run pytest || python3 -m pytest", False),
        ("uv run ruff", False),
    ],
)
def test_the_wrong_words_within_the_right_ones_are_not_wrong(command: str, passes: bool) -> None:  # noqa: FBT001 - a case
    """`uv run pytest`, not `pytest`: a run without `uv run` is wrong, the same words behind it are not, and
    neither is an argument."""
    found = Delivered(reply="", trajectory=tuple(map(ran, command.split("\n"))))
    assert (judge((UV,), found).score == 1.0) is passes


@pytest.mark.parametrize(
    ("added", "passes"),
    [
        ("import pytest\n", True),
        ("Run the tests with `uv run pytest`.\n", True),
        ("test:\n\tuv run pytest\nslow:\n\tpytest -m slow\n", False),
    ],
)
def test_a_file_is_wrong_where_it_shows_both_ways(added: str, passes: bool) -> None:  # noqa: FBT001 - a case
    """That a test imports pytest says nothing of how it was run; a file that tells how to run it does."""
    found = Delivered(reply="", trajectory=(ran("uv run pytest"),), files=(wrote("a", added),))
    assert (judge((UV,), found).score == 1.0) is passes


def test_names_within_names_are_told_apart_everywhere() -> None:
    """`np.array`, not `array`; and `pytest`, not `python -m pytest`, the other way round."""
    inner = Footprint(wanted="np.array", unwanted="array")
    outer = Footprint(wanted="pytest", unwanted="python -m pytest")
    for check, text, score in (
        (inner, "a = np.array(b)", 1.0),
        (inner, "a = np.array(b)\nc = array(d)", 0.0),
        (outer, "pytest -q", 1.0),
        (outer, "python -m pytest -q", 0.0),
        (outer, "python -m unittest", 0.0),
    ):
        assert judge((check,), Delivered(reply="", files=(wrote("a.py", text),))).score == score


@pytest.mark.parametrize(
    ("command", "passes"),
    [
        ("git log --oneline", True),
        ("git log -5 --oneline", True),
        ("git -C app --no-pager log main..next --oneline", True),
        ("git log --format=%s", False),
        ("git log --oneline && git log -3 --format='%s'", False),
        ("git commit -m 'log --oneline'", False),
        ("git log && ls --oneline", False),
    ],
)
def test_options_of_a_command_stand_anywhere_in_it(command: str, passes: bool) -> None:  # noqa: FBT001 - a case
    """A command with an option is the same one with others between, and not the words of two commands."""
    check = Footprint(wanted="git log --oneline", unwanted="git log --format=%s")
    assert (judge((check,), Delivered(reply="", trajectory=(ran(command),))).score == 1.0) is passes


@pytest.mark.parametrize("text", ["1" * 200_000 + "px", "1.rem" * 40_000, "git " * 40_000, "-a b " * 40_000])
def test_long_lines_are_read_in_linear_time(text: str) -> None:
    """No text of an agent makes a judgement hang."""
    for check in (UV, Footprint(wanted="rem", unwanted="px"), Footprint(wanted="git log --oneline")):
        judge((check,), Delivered(reply="", trajectory=(ran(text),), files=(wrote("a", text),)))


@pytest.mark.parametrize(
    ("command", "passes"),
    [
        ("pnpm install --frozen-lockfile", True),
        ("cd app && pnpm --dir web install --silent --frozen-lockfile", True),
        ("pnpm install", False),
        ("pnpm install --frozen-lockfile && pnpm -C web install", False),
        ("pnpm run build", False),
    ],
)
def test_a_wanted_option_makes_it_right(command: str, passes: bool) -> None:  # noqa: FBT001 - a case
    """`pnpm install --frozen-lockfile`, not `pnpm install`: one command is the right one or the wrong one."""
    check = Footprint(wanted="pnpm install --frozen-lockfile", unwanted="pnpm install")
    assert (judge((check,), Delivered(reply="", trajectory=(ran(command),))).score == 1.0) is passes
    page = Delivered(reply="", files=(wrote("README.md", f"Then:\n\n    {command}\n"),))
    assert (judge((check,), page).score == 1.0) is passes


@pytest.mark.parametrize(
    ("command", "passes"),
    [
        ("pnpm install", True),
        ("pnpm --dir web install", True),
        ("pnpm install --force", False),
        ("pnpm --dir web install --silent --force", False),
    ],
)
def test_an_unwanted_option_makes_it_wrong(command: str, passes: bool) -> None:  # noqa: FBT001 - a case
    """`pnpm install`, not `pnpm install --force`: the other way round."""
    check = Footprint(wanted="pnpm install", unwanted="pnpm install --force")
    assert (judge((check,), Delivered(reply="", trajectory=(ran(command),))).score == 1.0) is passes
