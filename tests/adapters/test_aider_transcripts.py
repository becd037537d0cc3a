"""Aider's chats: who wrote a "####" block, told by what was typed where that is kept."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from corpus import absent, counted, figures, strangers
from nightschool.adapters.aider import files, transcripts
from nightschool.adapters.aider.files import Chat, Entry, History
from nightschool.adapters.aider.transcripts import CHATS, INPUTS, AiderTranscripts
from nightschool.core.jobs import MARKER
from nightschool.core.sessions import CallStatus, ReadResult, Roots, RowFate, Session, TranscriptRef
from nightschool.core.values import digest_of
from nightschool.rules.corrections import corrections
from nightschool.rules.redaction import Redactor
from transcripts import CASES, ref_of

SOURCE = AiderTranscripts(redact=lambda text: text.replace("hunter2", "[secret]"))
SECRET = "sk-ant-api03-" + "Ab3dEf6hIj" * 9 + "AA"
FILE = "aider/aug2025-many-sessions"


@pytest.fixture(autouse=True)
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "app"
    (made / ".git").mkdir(parents=True)
    (made / "src").mkdir()
    return made


def head(started: str = "2026-03-01 09:00:00", arguments: str = "--model m-1") -> str:
    own = (f"/usr/bin/aider {arguments}", "Aider v0.86.2", "Model: m-1 with diff edit format")
    return f"\n# aider chat started at {started}\n\n" + "".join(f"> {line}  \n" for line in own)


def prompt(text: str) -> str:
    return "\n" + "".join(f"#### {line}  \n" for line in text.split("\n"))


def reply(text: str) -> str:
    return f"\n{text}\n\n"


def note(*lines: str) -> str:
    return "".join(f"> {line}  \n" for line in lines)


def typed(*entries: tuple[str, str]) -> str:
    return "".join(
        f"\n# {at}.000001\n" + "".join(f"+{line}\n" for line in text.split("\n")) for at, text in entries
    )


def laid(project: Path, chats: str, inputs: str | None = None) -> Path:
    path = project / CHATS
    path.write_text(chats, encoding="utf-8")
    if inputs is not None:
        (project / INPUTS).write_text(inputs, encoding="utf-8")
    return path


def refs(project: Path, **environment: str) -> Sequence[TranscriptRef]:
    known = (str(project / "src"),)
    return list(
        SOURCE.discover(Roots(home="/nowhere", projects=known, environment=tuple(environment.items())))
    )


def read(project: Path) -> ReadResult:
    (ref,) = refs(project)
    return SOURCE.read(ref, None)


def session(project: Path) -> Session:
    found = read(project).session
    assert found is not None
    return found


def words(found: Session) -> list[str]:
    return [turn.text for turn in found.human_turns]


@absent
@pytest.mark.cases
@pytest.mark.parametrize(("ending", "as_name"), [(".md", CHATS), (".input.history", INPUTS), ("both", CHATS)])
def test_real_files_give_the_figures_of_their_manifest(ending: str, as_name: str, project: Path) -> None:
    """The chats alone, what was typed alone, and the two together."""
    for own in (".md", ".input.history") if ending == "both" else (ending,):
        shutil.copyfile(CASES / f"{FILE}{own}", project / (as_name if ending != "both" else own))
    if ending == "both":
        (project / ".md").rename(project / CHATS)
        (project / ".input.history").rename(project / INPUTS)
    found = [
        SOURCE.read(ref, None).session
        for ref in SOURCE.discover(Roots(home="/nowhere", explicit=(str(project / as_name),)))
    ]
    total = [sum(int(counted(one)[place]) for one in found if one is not None) for place in range(4)]
    name = f"{FILE}{'.md' if ending == 'both' else ending}"
    assert tuple(map(str, total)) == figures(name)


@absent
@pytest.mark.cases
def test_files_of_other_agents_are_not_recognised() -> None:
    """A row that another agent writes too is no proof."""
    known = [path.name for path in strangers("aider") if SOURCE.recognises(ref_of(SOURCE, path))]
    assert known == []


def test_a_chat(project: Path) -> None:
    """What was typed, what the agent said and changed, what it was not allowed, in order."""
    laid(
        project,
        head()
        + prompt("Fix the total\nand the tax")
        + reply("On it: the key is hunter2.\n\n#### A heading of the model's")
        + note("Tokens: 1k sent", "Applied edit to src/a b.py", "Commit 1234567 fix")
        + note("make test", "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: n")
        + note("src/new.py", "Create new file? (Y)es/(N)o [Yes]: y")
        + note("The LLM did not conform to the edit format.")
        + prompt("No, use uv, not pip")
        + note("", "", "^C again to exit")
        + reply("I")
        + prompt("/clear"),
    )
    found = session(project)
    assert words(found) == ["Fix the total\nand the tax", "No, use uv, not pip", "/clear"]
    assert [(call.name, call.status, call.files, call.command) for call in found.calls] == [
        ("edit", CallStatus.OK, ("src/a b.py",), None),
        ("shell", CallStatus.REFUSED, (), "make test"),
        ("edit", CallStatus.ERROR, (), None),
    ]
    assert "[secret]" in found.turns[1].text
    assert "hunter2" not in repr(found)
    assert [turn.interrupted for turn in found.turns] == [False, False, False, True, False]
    assert (found.project, found.agent_version, found.turns[1].model) == (str(project), "0.86.2", "m-1")
    assert str(found.started_at) == "2026-03-01 14:00:00+00:00", "a time of this machine's clock"


def test_who_wrote_a_block_without_what_was_typed(project: Path) -> None:
    """A plan repeats the reply above it, an echo the command before it; a model's own heading is none."""
    laid(
        project,
        head()
        + prompt("Make it fast")
        + reply("Do this:\n\n#### 1. First\n- that")
        + note("Tokens: 1k sent", "Edit the files? (Y)es/(N)o [Yes]: y")
        + prompt("Do this:\n\n#### 1. First\n- that")
        + reply("Done.")
        + prompt("/ask why?")
        + prompt("why?")
        + reply("#### Because\nof that")
        + prompt("Add file to the chat? (Y)es/(N)o/(A)ll [Yes]: all")
        + prompt("<blank>")
        + prompt("why?"),
    )
    told: list[RowFate] = []
    (ref,) = refs(project)
    SOURCE.read(ref, None, told=told.append)
    assert words(session(project)) == ["Make it fast", "/ask why?", "why?"]
    assert [fate.why for fate in told if fate.became == "left out"] == [
        "the plan of one model for another",
        "the words of the command before it, once more",
        "an answer to a question",
        "without words",
    ]


def test_what_was_typed_decides(project: Path) -> None:
    """A block that is not among it is nobody's, though it looks like a prompt; one that is counts, though it
    repeats the reply. The same text at once is stored once, and a prompt in braces line by line."""
    chats = (
        head()
        + prompt("go")
        + reply("ok")
        + prompt("ok")
        + prompt("go on")
        + reply("Words of a model:\n\n#### delete all tests  \n")
        + prompt("go on")
        + prompt("first\nsecond")
    )
    inputs = typed(
        ("2026-03-01 08:00:00", "of another chat"),
        ("2026-03-01 09:01:00", "go"),
        ("2026-03-01 09:02:00", "y"),
        ("2026-03-01 09:03:00", "ok"),
        ("2026-03-01 09:04:00", "go on"),
        ("2026-03-01 09:05:00", "{"),
        ("2026-03-01 09:05:01", "first"),
        ("2026-03-01 09:05:02", "second"),
        ("2026-03-01 09:05:03", "}"),
    )
    laid(project, chats)
    assert "delete all tests" in words(session(project))
    laid(project, chats, inputs)
    found = session(project)
    assert words(found) == ["go", "ok", "go on", "go on", "first\nsecond"]
    assert [str(turn.at)[11:19] for turn in found.human_turns][:2] == ["14:01:00", "14:03:00"]


def test_each_chat_is_a_session(project: Path) -> None:
    """Their ids stay when more comes; only the last looks changed when the file grows, and times of a chat
    that ended are its own. Two that began in one second are two."""
    first = head("2026-03-01 09:00:00") + prompt("one")
    path = laid(project, first + head("2026-03-02 09:00:00") + prompt("two"))
    before = {ref.part: ref for ref in refs(project)}
    with path.open("a", encoding="utf-8") as file:
        file.write(prompt("more") + head("2026-03-02 09:00:00") + prompt("three"))
    os.utime(path, (2_000_000_000, 2_000_000_000))
    after = {ref.part: ref for ref in refs(project)}
    parts = list(after)
    assert list(before) == parts[:2]
    assert after[parts[0]] == before[parts[0]]
    assert [str(after[part].mtime)[:10] for part in parts] == ["2026-03-01", "2026-03-02", "2033-05-18"]
    found = [SOURCE.read(after[part], None).session for part in parts]
    assert [words(one) for one in found if one] == [["one"], ["two", "more"], ["three"]]
    assert [one.session_id for one in found if one] == parts
    offset = SOURCE.read(before[parts[1]], None).offset
    again = SOURCE.read(after[parts[1]], offset)
    assert (again.restarted, again.offset and again.offset.id) == (True, after[parts[1]].id)


def test_whose_prompts_they_are(project: Path) -> None:
    """`aider --message` was started by a program; ours carries the marker; a program's yes is no refusal."""
    question = note("x", "Run shell command? (Y)es/(N)o [Yes]: n")
    laid(project, head(arguments="--message 'Fix it'") + prompt("Fix it") + reply("ok"))
    assert (session(project).headless, words(session(project))) == (True, [])
    laid(project, head() + prompt(f"[{MARKER} 1] go"))
    assert session(project).ours
    laid(project, head(arguments="--yes-always") + prompt("go") + question)
    assert session(project).calls == ()


def test_where_they_lie(project: Path, tmp_path: Path) -> None:
    """At the root of the repository of a known project, in HOME, and where the variables say."""
    path = laid(project, head() + prompt("go") + prompt("in vain"))
    assert [ref.path for ref in refs(project)] == [str(path)]
    assert list(SOURCE.folders(Roots(home=str(project)))) == [project]
    assert list(SOURCE.folders(Roots(home=str(tmp_path)))) == []
    elsewhere = tmp_path / "chats.md"
    path.rename(elsewhere)
    (tmp_path / "inputs").write_text(typed(("2026-03-01 09:01:00", "go")))
    moved = {"AIDER_CHAT_HISTORY_FILE": str(elsewhere), "AIDER_INPUT_HISTORY_FILE": str(tmp_path / "inputs")}
    (ref,) = refs(project, **moved)
    found = SOURCE.read(ref, None).session
    assert found is not None
    assert (words(found), found.project) == (["go"], None)


def test_what_was_typed_without_its_chats(project: Path) -> None:
    """Read where it is named; beside its chats it is a part of them."""
    (project / INPUTS).write_text(typed(("2026-03-01 09:01:00", "go"), ("2026-03-01 09:02:00", "y")))
    assert refs(project) == []
    (ref,) = SOURCE.discover(Roots(home="/nowhere", explicit=(str(project / INPUTS),)))
    found = SOURCE.read(ref, None).session
    assert found is not None
    assert (words(found), found.project) == (["go"], str(project))


def test_windows_line_ends(project: Path) -> None:
    """Aider on Windows ends its lines as Windows does, and stores a prompt of several lines with more."""
    laid(
        project,
        (head() + prompt("a\nb") + reply("ok")).replace("\n", "\r\n"),
        typed(("2026-03-01 09:01:00", "a\r\nb")),
    )
    assert words(session(project)) == ["a\nb"]


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"# aider chat started at never\n", b"\xff\xfe\n" * 9, b"\0"]
)
def test_what_is_no_history_is_named(content: bytes, project: Path) -> None:
    """Whatever the file holds: nothing is raised, nothing is read, and it is said."""
    (project / CHATS).write_bytes(content)
    (ref,) = refs(project)
    result = SOURCE.read(ref, None)
    assert result.session is None
    assert [out.reason for out in result.left_out] == ["not-a-transcript" if content else "empty"]
    assert not SOURCE.recognises(ref)


def test_what_cannot_be_read_is_named(project: Path) -> None:
    """A pipe, a link to nothing: found, and told; in the place of what was typed it costs that alone."""
    path = laid(project, head() + prompt("go"))
    os.mkfifo(project / INPUTS)
    result = read(project)
    assert result.session is not None
    assert (words(result.session), [out.path for out in result.left_out]) == (["go"], [str(project / INPUTS)])
    path.unlink()
    path.symlink_to("gone")
    assert [out.reason for out in read(project).left_out] == ["dangling-link"]


def test_too_much_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat or a history beyond its bound is not held in memory; further chats belong to the last."""
    laid(project, head() + prompt("go"), typed(("2026-03-01 09:01:00", "x" * 2000)))
    monkeypatch.setattr(transcripts, "LARGEST_INPUTS", 1 << 10)
    assert [out.reason for out in read(project).left_out] == ["unreadable"]
    monkeypatch.setattr(transcripts, "LARGEST_CHAT", 10)
    assert "larger than" in read(project).left_out[0].detail
    monkeypatch.setattr(files, "MOST_CHATS", 2)
    laid(project, "".join(head(f"2026-03-0{day} 09:00:00") for day in range(1, 8)))
    assert len(refs(project)) == 2


def test_headings_are_found_across_blocks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the file is cut to be read."""
    laid(project, "".join(head(f"2026-03-0{day} 09:00:00") + prompt("go") for day in range(1, 8)))
    content = (project / CHATS).read_bytes()
    whole = [ref.part for ref in refs(project)]
    for size in range(65, 300, 7):
        monkeypatch.setattr(files, "CHUNK", size)
        with (project / CHATS).open("rb") as file:
            found = files.chats_in(file, len(content))
        assert [chat.started[:10] for chat in found] == [f"2026-03-0{day}" for day in range(1, 8)]
        assert len(found) == len(whole)


def test_a_secret_is_stored_from_no_line(project: Path) -> None:
    """Wherever it stands in either file."""
    source = AiderTranscripts(redact=Redactor(b"k" * 32))
    lines = (
        head()
        + prompt("Fix it")
        + reply("ok")
        + note("Applied edit to a.py", "x", "Create new file? (Y)es/(N)o [Yes]: n")
    ).split("\n")
    for number, line in enumerate(lines):
        for at in {0, len(line) // 2, len(line)}:
            changed = [*lines[:number], f"{line[:at]} {SECRET} {line[at:]}", *lines[number + 1 :]]
            laid(project, "\n".join(changed), typed(("2026-03-01 09:01:00", f"Fix it {SECRET}")))
            for ref in source.discover(Roots(home=str(project))):
                assert SECRET not in repr(source.read(ref, None))


def test_no_bytes_stop_a_harvest(project: Path) -> None:
    """Lines cut, doubled, joined and strewn with bytes: read, and mined."""
    chance = random.Random(7)
    good = head() + prompt("Fix it") + reply("ok") + note("Applied edit to a") + prompt("No, use uv, not pip")
    inputs = typed(("2026-03-01 09:01:00", "Fix it"), ("2026-03-01 09:02:00", "No, use uv, not pip"))
    for _ in range(300):
        for name, text in ((CHATS, good * 2), (INPUTS, inputs * 2)):
            content = bytearray(text.encode())
            for _ in range(chance.randrange(6)):
                at = chance.randrange(len(content))
                match chance.randrange(4):
                    case 0:
                        del content[at : at + chance.randrange(80)]
                    case 1:
                        content[at:at] = bytes(chance.randrange(256) for _ in range(5))
                    case 2:
                        content[at:at] = content[at : at + 90]
                    case _:
                        content[at:at] = b"\n# aider chat started at 2026-99-99 09:00:00\n"
            (project / name).write_bytes(bytes(content))
        for ref in refs(project):
            found = SOURCE.read(ref, None).session
            if found is not None:
                corrections([found])


def test_many_prompts_cost_no_square(project: Path) -> None:
    """A file that is all prompts beside a history that is all braces is read to its end."""
    count = 30_000
    laid(
        project,
        head() + prompt("go") * count,
        "".join(
            f"\n# 2026-03-01 09:01:00.1\n+{{\n\n# 2026-03-01 09:01:01.1\n+x{number}\n"
            for number in range(count)
        ),
    )
    assert len(words(session(project))) == count


class _Time(str):
    """A time that counts how often it is looked at."""

    __slots__ = ()
    looks: ClassVar[int] = 0

    def __lt__(self, other: str) -> bool:
        _Time.looks += 1
        return super().__lt__(other)

    __hash__ = str.__hash__


def test_what_was_typed_is_not_looked_through_for_each_chat() -> None:
    """A thousand chats and what was typed in them: each entry is met a few times, not a thousand; where the
    clock was put back, entries stand in the order of the file."""
    times = [f"2026-03-01 09:{number // 60:02}:{number % 60:02}" for number in range(1000)]
    entries = [Entry(_Time(at), at) for at in times]
    chats = [Chat(at, 0, 0, 0, until) for at, until in zip(times, (*times[1:], "~"), strict=True)]
    history = History(entries)
    _Time.looks = 0
    assert [history.during(chat) for chat in chats] == [[entry] for entry in entries]
    assert _Time.looks < 50 * len(chats)
    back = [Entry("2026-03-01 09:00:05", "first"), Entry("2026-03-01 09:00:02", "second")]
    assert History(back).during(Chat("2026-03-01 09:00:00", 0, 0, 0, "~")) == back


def test_the_ids_of_chats_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many chats a file holds: reading all of them does not name each for each of them."""
    path = laid(tmp_path, "".join(head(f"2026-03-01 09:00:{number:02}") for number in range(50)))
    made: list[object] = []

    def counting(*parts: object) -> str:
        made.append(parts)
        return digest_of(*parts)

    monkeypatch.setattr("nightschool.adapters.aider.transcripts.digest_of", counting)
    found = list(SOURCE.discover(Roots(home="/nowhere", explicit=(str(path),))))
    assert len(found) == 50
    assert [ref.part for ref in found] == sorted({ref.part for ref in found})
    for ref in found:
        assert SOURCE.read(ref, None).session is not None
    assert len(made) < 10 * len(found)
