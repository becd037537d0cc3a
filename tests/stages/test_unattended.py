"""What is adopted without asking, where the person's settings say so: only what they would hardly refuse."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in
from nightschool.adapters.git_projects import GitProjects
from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.core.cycles import CycleReport, Learned
from nightschool.core.errors import UserError
from nightschool.core.harness import Scope
from nightschool.core.proposals import Edit, Finding, Release, Review, Risk, Status, Verdict, VerdictKind
from nightschool.core.values import Digest
from nightschool.rules.report import markdown
from nightschool.rules.unattended import against
from nightschool.stages.pins import pin
from nightschool.stages.publish import adopt_unattended
from nightschool.stages.rebase import remake
from nightschool.stages.releases import dossier
from nightschool.stages.undo import undo
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from nightschool.wiring import Parts
from publish_builders import BEFORE, MOMENT, draft_of, proposed, rules, safety_of, verdict_of, vet_of

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]


def git(folder: Path, *arguments: str) -> None:
    subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.made(tmp_path)


def run(place: Place, *, adopts_for: str | None) -> CycleReport:
    with cycle_in(place, runner=QuickRunner()) as (parts, cycle), cycle.held():
        cycle.adopts_for = adopts_for
        return cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))


def passed(report: CycleReport) -> list[Learned]:
    return [item for item in report.learned if item.draft is not None]


def test_it_is_off_unless_the_person_says_so(place: Place) -> None:
    """By the built-in default nothing is written: what passed waits."""
    before = (place.project / "CLAUDE.md").read_bytes()
    with cycle_in(place) as (_, cycle):
        assert cycle.adopts_for is None
    codes = {item.code for item in passed(run(place, adopts_for=None))}
    assert "accept" in codes
    assert "adopted" not in codes
    assert (place.project / "CLAUDE.md").read_bytes() == before


def test_what_passed_is_adopted_and_told_and_can_be_undone(place: Place) -> None:
    """Each release is named in the report with the command that takes it back; the review is the person's."""
    live = place.project / "CLAUDE.md"
    before = live.read_bytes()
    git(place.project, "rm", "-q", "--cached", "CLAUDE.md")
    report = run(place, adopts_for="sam")
    done = [item for item in passed(report) if item.code == "adopted"]
    assert done
    text = markdown(report)
    with cycle_in(place) as (parts, _):
        releases = {release.number: release for release in parts.store.find(Release)}
        for item in done:
            assert item.release is not None
            assert item.draft is not None
            assert item.release in item.why
            assert f"nightschool undo {item.draft}" in text
            assert dossier(parts.store, item.draft).status is Status.PUBLISHED
            assert releases[item.release].path == str(live)
        for review in parts.store.find(Review):
            assert review.reviewer == "sam"
            assert "publish.auto_adopt" in review.reason
        for item in reversed(done):
            undo(item.release, store=parts.store, live=parts.live, clock=parts.clock, actor="sam")
    assert live.read_bytes() == before


def test_a_file_that_git_tracks_is_the_teams(place: Place) -> None:
    """A tracked memory file waits for the person, and the report says why."""
    before = (place.project / "CLAUDE.md").read_bytes()
    report = run(place, adopts_for="sam")
    waiting = [item for item in passed(report) if item.code == "accept"]
    assert waiting
    assert all("git tracks the file" in item.why for item in waiting)
    assert (place.project / "CLAUDE.md").read_bytes() == before


def test_a_pinned_file_is_not_even_practised_for(place: Place) -> None:
    """For a pinned file no job is started, and the report names the pin."""
    with cycle_in(place) as (parts, _):
        pin(
            place.project / "CLAUDE.md",
            store=parts.store,
            live=parts.live,
            clock=parts.clock,
            redact=parts.redact,
            actor="sam",
            reason="mine",
        )
    report = run(place, adopts_for="sam")
    assert {item.code for item in report.learned} == {"pinned"}
    assert report.spend.jobs == 0
    assert "is pinned (mine)" in markdown(report)


def test_the_next_cycle_examines_what_was_made_anew(place: Place) -> None:
    """A draft that was made on a later state of the file is examined; no other is proposed."""
    first = next(item for item in passed(run(place, adopts_for=None)) if item.code == "accept")
    assert first.draft is not None
    with (place.project / "CLAUDE.md").open("a") as live:
        live.write("\nWritten by hand.\n")
    with cycle_in(place) as (parts, _):
        made = remake(
            first.draft,
            store=parts.store,
            live=parts.live,
            place=parts.place,
            harness=parts.harness,
            vet=parts.vet(),
            clock=parts.clock,
        )
        assert dossier(parts.store, made.id).status is Status.SUGGESTED
    second = next(item for item in run(place, adopts_for=None).learned if item.candidate == first.candidate)
    assert (second.code, second.draft) == ("accept", made.id)
    with cycle_in(place) as (parts, _):
        assert dossier(parts.store, made.id).status is Status.IN_REVIEW
        older = parts.store.find(Verdict, first_digest(parts, first))[-1]
        newer = parts.store.find(Verdict, made.digest)[-1]
        assert (older.k, newer.k) == (1, 2)


def first_digest(parts: Parts, item: Learned) -> Digest:
    assert item.draft is not None
    return dossier(parts.store, item.draft).draft.digest


def test_each_reason_to_wait_is_named() -> None:
    """Only an accept, without any finding, that takes no rule away, in a file of the person's own."""
    store = MemoryStore()
    draft = proposed(store, BEFORE, *rules("use pnpm, not npm"))
    case = dossier(store, draft.id)
    assert against(case, team=False) == ()
    low = Finding(code="surface", risk=Risk.LOW, text="is shadowed")
    skill = replace(draft, target=replace(draft.target, place="user/.claude/skills/notes/SKILL.md"))
    gone = replace(draft, edits=(Edit(op="delete", anchor="x", moment=MOMENT),))
    for other, team, code in (
        (replace(case, verdicts=(verdict_of(draft, VerdictKind.UNDECIDED),)), False, "not-accepted"),
        (replace(case, verdicts=()), False, "not-accepted"),
        (replace(case, safety=(safety_of(draft, low),)), False, "findings"),
        (replace(case, safety=()), False, "findings"),
        (replace(case, draft=gone), False, "takes-away"),
        (replace(case, draft=skill), False, "skill"),
        (case, True, "team-file"),
    ):
        assert [found for found, _ in against(other, team=team)] == [code]


def test_whatever_forbids_it_is_told_and_breaks_nothing(store: MemoryStore, path: Path) -> None:
    """A stale file, a lock that is held: no release, the reason as text, nothing raised."""
    draft = proposed(store, BEFORE, *rules("use pnpm, not npm"))
    path.write_bytes(b"by hand")
    release, why = unattended(store, draft.id, path)
    assert (release, "was changed since" in why) == (None, True)
    path.write_bytes(BEFORE)
    with store.hold("publish"):
        release, why = unattended(store, draft.id, path)
    assert (release, bool(why)) == (None, True)
    assert store.find(Release) == ()


def unattended(store: MemoryStore, draft_id: str, path: Path) -> tuple[Release | None, str]:
    return adopt_unattended(
        draft_id,
        store=store,
        live=FileSystemLiveFiles(),
        place=lambda _: path,
        vet=vet_of(store),
        clock=FakeClock(),
        projects=GitProjects(),
        actor="ada",
    )


def test_the_persons_own_file_is_theirs_also_in_git(store: MemoryStore, path: Path) -> None:
    """A user-level file is the person's, in a repository of their settings too."""
    git(path.parent, "init", "-q")
    git(path.parent, "add", ".")
    draft = draft_of(store, BEFORE, BEFORE + b"* more\r\n")
    target = replace(draft.target, scope=Scope.USER, project="", place="user/.claude/CLAUDE.md")
    own = replace(draft, target=target)
    store.commit(own, safety_of(own), verdict_of(own))
    release, why = unattended(store, own.id, path)
    assert release is not None
    assert f"nightschool undo {own.id}" in why


def test_git_says_what_it_tracks(tmp_path: Path) -> None:
    """Tracked is what git has in its index, by its exact name; without git nothing is; broken is an error."""
    projects, repo = GitProjects(), tmp_path / "repo"
    (repo / "sub").mkdir(parents=True)
    for name in ("CLAUDE.md", "sub/[A].md", "mine.md", "A.md"):
        (repo / name).write_text("x")
    assert not projects.tracks(repo / "CLAUDE.md")
    git(repo, "init", "-q")
    git(repo, "add", "CLAUDE.md", "A.md")
    assert projects.tracks(repo / "CLAUDE.md")
    assert not projects.tracks(repo / "mine.md")
    assert not projects.tracks(repo / "sub" / "[A].md")
    assert not projects.tracks(repo / "[A].md")
    assert not projects.tracks(repo / "none" / "new.md")
    git(repo, "add", "sub")
    assert projects.tracks(repo / "sub" / "[A].md")
    (repo / ".git" / "HEAD").write_text("nonsense")
    with pytest.raises(UserError, match="git cannot tell"):
        projects.tracks(repo / "CLAUDE.md")
