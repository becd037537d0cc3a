"""Every source that is declared keeps the contract of the port, and reads the real files as people did."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from corpus import absent, counted, figures, halves_are_the_whole, manifest, strangers
from nightschool.core.ports import Redact, TranscriptSource
from nightschool.core.sessions import Became, RowFate
from nightschool.testing.conformance.source import check_source
from samples import SAMPLES
from transcripts import CASES, read_file, ref_of, session_of

DECLARED = {point.name: point for point in entry_points(group="nightschool.sources")}
AGENT = {"gemini": "gemini-cli", "copilot": "copilot-cli"}
"""How the list of real files calls an agent, where it is not as the source does."""
ALONE = {"aider": "several sessions in a file", "opencode": "trees of files"}
"""Sources whose real files have tests of their own, and what they are."""
OF_THE_KIND = {"pi": {"openclaw"}}
"""Folders of agents that are built on another and write what it does."""


def made(name: str, redact: Redact = str) -> TranscriptSource:
    source: TranscriptSource = DECLARED[name].load()(redact=redact)
    return source


def test_every_source_has_a_sample() -> None:
    """A new source is tested by being declared: what is missing is how a session of it is laid down."""
    assert DECLARED.keys() == SAMPLES.keys(), "tests/samples.py lays down a session of each source"


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, samples in SAMPLES.items() for kind in samples]
)
def test_it_keeps_the_contract(name: str, kind: str, tmp_path: Path) -> None:
    """The source behaves as the port says, with each way in which its agent keeps sessions."""
    check_source(lambda redact: made(name, redact), SAMPLES[name][kind], tmp_path)


def real(*, whole: bool = True) -> list[tuple[str, str]]:
    """Source and file of the real files of one session each; of those that are lines, where not `whole`."""
    names = {AGENT.get(name, name): name for name in DECLARED if name not in ALONE}
    found = [(names[row["agent"]], row["file"]) for row in manifest() if row["agent"] in names]
    lined = {name for name, samples in SAMPLES.items() if any(sample.rows for sample in samples.values())}
    return found if whole else [one for one in found if one[0] in lined and one[1].endswith(".jsonl")]


@absent
@pytest.mark.cases
@pytest.mark.parametrize(("name", "file"), real())
def test_real_files_give_the_figures_of_their_manifest(name: str, file: str) -> None:
    """Human turns, tool calls, tool errors and refusals of each real file are those that a reader counted;
    it is recognised by what it holds."""
    source, expected = made(name), figures(file)
    assert counted(session_of(source, CASES / file)) == expected or "n/a" in expected
    assert source.recognises(ref_of(source, CASES / file))


@absent
@pytest.mark.cases
@pytest.mark.parametrize(("name", "file"), real(whole=False))
def test_halves_of_real_files_are_the_whole(name: str, file: str, tmp_path: Path) -> None:
    """Wherever a read stops, the next one adds the rest and nothing twice."""
    halves_are_the_whole(made(name), file, tmp_path)


@absent
@pytest.mark.cases
@pytest.mark.parametrize("name", DECLARED)
def test_files_of_other_agents_are_not_recognised(name: str) -> None:
    """A row that another agent writes too is no proof."""
    source = made(name)
    known = {path for path in strangers(AGENT.get(name, name)) if source.recognises(ref_of(source, path))}
    assert {path.parent.name for path in known} == OF_THE_KIND.get(name, set())


@absent
@pytest.mark.cases
@pytest.mark.parametrize(("name", "file"), real())
def test_real_files_are_told_row_by_row(name: str, file: str) -> None:
    """Each line is told of or left out by name, each person's turn once, and the session is the same."""
    source, path = made(name), CASES / file
    told: list[RowFate] = []
    result = source.read(ref_of(source, path), None, told=told.append)
    assert result == read_file(source, path)
    assert result.session is not None
    people = [turn for turn in result.session.turns if turn.speaker == "human"]
    assert sum(fate.became is Became.HUMAN for fate in told) == len(people)
    if file.endswith(".jsonl"):
        lines, offset = set(), 0
        for line in path.read_bytes().splitlines(keepends=True):
            lines |= {offset} if line.strip() else set()
            offset += len(line)
        assert lines <= {fate.offset for fate in told} | {out.offset for out in result.left_out}
