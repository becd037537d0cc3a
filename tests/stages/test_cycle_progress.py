"""What a cycle tells the person who waits."""

from __future__ import annotations

from pathlib import Path

from cycle_builders import Place, QuickRunner, cycle_in


def test_a_person_who_waits_is_told_what_goes_on(tmp_path: Path) -> None:
    """In plain words and in the order in which it happens: reading, practising, editing, the exam with its
    wealth, other work, the figures; with the jobs that ended, of those that the budget allows."""
    place, heard = Place.made(tmp_path), list[tuple[str, int, int | None]]()
    with cycle_in(place, runner=QuickRunner(), jobs=200) as (parts, cycle), cycle.held():
        cycle.preparation.progress = cycle.replay.progress = lambda *told: heard.append(told)
        report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
    assert heard[14] == ("reading sessions", 15, 15)
    first = [words for words, _, _ in heard if words.startswith('"use pathlib, not os.path" (1 of 2): ')]
    phases = (
        "practising",
        "editing",
        "exam, pair 1: evidence 1 of 16.4, better in 0 of 5 kinds of task",
        "exam, pair 5",
        "exam: it helps",
        "exam passed",
    )
    places = [next(n for n, words in enumerate(first) if phase in words) for phase in phases]
    assert places == sorted(places)
    assert any(" (2 of 2): " in words for words, _, _ in heard)
    jobs = [(done, total) for words, done, total in heard if words != "reading sessions"]
    assert jobs == sorted(jobs, key=lambda told: told[0])
    assert jobs[-1] == (report.spend.jobs, 200)
