"""What reaches a terminal, a pipe and a reader of documents."""

from __future__ import annotations

import io
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.cli.exits import MEANING, ExitCode
from nightschool.cli.output import Output, json_text
from nightschool.cli.printable import NARROW, ascii_json, one_line, printable
from nightschool.cli.render import Diff, Line, Table
from nightschool.core.errors import NotAllowed
from nightschool.core.jobs import Failed, Reason, Usage

CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ATTACK = "\x1b]0;title\x07\x1b[2J\x9b31m rm -rf \u202exfdp.sh\u2066 \u200b\ufeff\U000e0041 \ud800 \r"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Stdout and stderr are one terminal that knows colours. No fixture: pytest sets both anew after it."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return screen


TABLE = Table(columns=("rule", "times"), rows=[("use pnpm, not npm", 3), ("never push", None)], title="said")
DIFF = Diff("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n")


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json stdout holds one document and nothing else; what is told on the way goes to stderr."""
    out = Output(json=True)
    out.show("told as it comes")
    out.note("a note")
    with out.progress("trials") as steps:
        steps.at(1, 2)
    assert out.result({"a": 1}, ["for people"], ExitCode.NOTHING_CERTIFIED) == 3
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"a": 1}
    assert printed.err == "a note\ntrials 1/2\n"


def test_values_have_a_form_in_json() -> None:
    """Unknown is null, times are ISO 8601, spans are seconds, money is a number; bytes have no form."""
    usage = Usage(cost=Decimal("0.25"), wall=timedelta(seconds=90))
    found = json.loads(
        json_text(
            {
                "outcome": Failed(reason=Reason.TIMEOUT, message="late", usage=usage),
                "at": datetime(2026, 1, 2, tzinfo=UTC),
                "where": Path("/x"),
            }
        )
    )
    assert found["outcome"]["usage"] == {"tokens": None, "cost": 0.25, "priced": None, "wall": 90.0}
    assert found["outcome"]["reason"] == "timeout"
    assert (found["at"], found["where"]) == ("2026-01-02T00:00:00+00:00", "/x")
    with pytest.raises(TypeError, match="bytes"):
        json_text({"raw": b"x"})
    with pytest.raises(ValueError, match="JSON"):
        json_text(float("nan"))


def test_pipes_get_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Into a pipe go aligned columns that are never cut, and no escape code."""
    Output().result(None, [TABLE, DIFF, Line("done", "green")])
    assert capsys.readouterr().out == (
        "said\n"
        "RULE               TIMES\n"
        "use pnpm, not npm      3\n"
        "never push             -\n"
        "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"
        "done\n"
    )


def test_terminals_get_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal headings are bold and a diff has its colours."""
    terminal = a_terminal(monkeypatch)
    Output().result(None, [TABLE, DIFF])
    screen = terminal.getvalue()
    assert "\x1b[32m+new" in screen
    assert "\x1b[31m-old" in screen
    assert "use pnpm, not npm" in screen


def test_the_last_column_has_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the other cells are: the last one, which one came for, can be read."""
    monkeypatch.setenv("COLUMNS", "80")
    terminal = a_terminal(monkeypatch)
    row = ("9", "claude-code, codex", "many projects, " * 30, "use uv, not pip")
    Output().result(None, [Table(columns=("sessions", "agents", "projects", "said"), rows=[row])])
    assert "use uv, not pip" in terminal.getvalue()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_is_respected(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """With NO_COLOR, or a terminal that knows no codes, none is written."""
    terminal = a_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    Output().result(None, [TABLE, DIFF])
    with Output().progress("trials") as steps:
        steps.at(1, 2)
    assert "\x1b" not in terminal.getvalue()


def test_forced_colours_stay_out_of_pipes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that forces colours elsewhere puts none into a pipe."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    Output().result(None, [TABLE, DIFF])
    assert "\x1b" not in capsys.readouterr().out


def test_text_of_models_moves_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Escape sequences, direction marks and hidden characters of a transcript are shown, never sent."""
    terminal = a_terminal(monkeypatch)
    row = Table(columns=("said",), rows=[(ATTACK,)], title=ATTACK)
    out = Output()
    out.show(row, Line(ATTACK), Diff("+" + ATTACK))
    out.note(ATTACK)
    with out.progress(ATTACK) as steps:
        steps.at(1, 2, ATTACK)
    screen = terminal.getvalue()
    for unfit in (
        "\x1b]",
        "\x1b[2J\x9b",
        "\x9b",
        "\x07",
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\U000e0041",
    ):
        assert unfit not in screen
    assert r"\x1b]0;title\x07" in screen


def test_a_diff_shows_no_line_ends_of_windows() -> None:
    """A line end of Windows is one, the last too, on a terminal and elsewhere; a lone \\r is shown."""
    diff = Diff("--- a\r\n-old\r\n+new\rer\r\n")
    assert diff.plain() == "--- a\n-old\n+new\\x0der"
    assert str(diff.styled()) == diff.plain()


def test_joiners_and_other_scripts_stay() -> None:
    """What people write in any language is left as it is."""
    text = "नमस्ते 👩‍👩‍👧 می‌خواهم 例え\tß\n"
    assert printable(text) == text
    assert one_line(" a\n b\tc ") == "a b c"
    assert printable("a\r\nb\rc") == "a\nb\\x0dc"


@given(st.text(alphabet=st.characters(codec=None)))
def test_documents_are_safe_and_true(text: str) -> None:
    """A document holds no raw control or direction character, and parses to the very same text."""
    written = json_text(text)
    assert printable(written) == written
    assert json.loads(written) == text


@given(st.text(alphabet=st.characters(codec=None)))
def test_printable_is_idempotent(text: str) -> None:
    """What was made fit once is fit."""
    assert printable(printable(text)) == printable(text)


def test_a_narrow_terminal_keeps_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the words do not fit their beginning and their end stay, with the figures in it."""
    terminal = a_terminal(monkeypatch)
    words = '"use pnpm, not npm" (1 of 2): exam, pair 22: evidence 12.3 of 16.4, better in 3 of 5'
    with Output().progress("run, jobs") as steps:
        steps.at(12, 100, words)
    lines = [line for line in re.split(r"[\r\n]", CODES.sub("", terminal.getvalue())) if "pnpm" in line]
    assert lines
    for line in lines:
        assert line.lstrip().startswith("12/100 ")
        assert "…" in line
        assert line.rstrip().endswith(" 16.4, better in 3 of 5")
        assert len(line.rstrip()) <= 60


def test_progress_without_a_terminal_is_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Elsewhere than on a terminal progress is a line at each tenth, and for each new text; where the end
    is unknown, at each twenty-fifth."""
    with Output().progress("trials") as steps:
        for done in range(101):
            steps.at(done, 100)
        steps.at(100, 100, "guards")
        for done in range(3, 60):
            steps.at(done, None, "sessions")
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["trials 0/100", "trials 10/100"]
    assert len(lines) == 15
    assert lines[-4:] == [
        "trials 100/100: guards",
        "trials 3: sessions",
        "trials 25: sessions",
        "trials 50: sessions",
    ]


def test_nobody_there_is_no_yes() -> None:
    """A question without a terminal is refused, with the flag that answers beforehand."""
    with pytest.raises(NotAllowed, match=r"Start 100 jobs.*say --yes"):
        Output().confirm("Start 100 jobs?", otherwise="say --yes")


@pytest.mark.parametrize(("answer", "goes_on"), [("y\n", True), ("Yes\n", True), ("\n", False), ("", False)])
def test_only_yes_is_yes(monkeypatch: pytest.MonkeyPatch, answer: str, *, goes_on: bool) -> None:
    """Anything but yes, the end of input too, is no."""
    terminal = a_terminal(monkeypatch)
    keyboard = Terminal(answer)
    monkeypatch.setattr(sys, "stdin", keyboard)
    if goes_on:
        Output().confirm("Start?", otherwise="say --yes")
    else:
        with pytest.raises(NotAllowed):
            Output().confirm("Start?", otherwise="say --yes")
    assert "Start? [y/N]" in terminal.getvalue()


def test_every_exit_code_has_a_meaning() -> None:
    """What a code means is written where the documentation takes it from."""
    assert set(MEANING) == set(ExitCode)


def test_signs_of_our_own_have_a_form_in_ascii() -> None:
    """A terminal of a narrow encoding shows a curve as one; what else it cannot show is an escape."""
    assert "▁▄█ cut…".encode("ascii", NARROW) == b"_:# cut..."
    assert "caf\xe9 ▁\xe9".encode("ascii", NARROW) == b"caf\\xe9 _\\xe9"


def test_a_document_is_exact_in_a_narrow_encoding() -> None:
    """Escapes of JSON's own, not of the terminal: it is read as what it was."""
    value = {"text": "caf\xe9 … \N{GRINNING FACE}"}
    assert json.loads(ascii_json(json_text(value)).encode("ascii")) == value
