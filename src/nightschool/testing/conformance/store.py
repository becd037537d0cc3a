"""What every `Store` must do, as checks that need no test framework."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from nightschool.core.errors import Busy, Conflict, NotFound
from nightschool.core.harness import File
from nightschool.core.jobs import Delivered, FileChange, Finished, LostTry, Reason, Role, Usage
from nightschool.core.ports import Store
from nightschool.core.sessions import CallStatus, Offset, ToolCall
from nightschool.core.tasks import Correction, FilesSource, Footprint, Moment, Split, Task, Touched
from nightschool.core.trials import Pair, Partition
from nightschool.core.values import Digest, digest_bytes

AT = datetime(2025, 3, 1, 2, 30, 0, 123456, tzinfo=UTC)


def check_store(make_store: Callable[[], Store]) -> None:
    """Raise AssertionError where a store breaks its contract.

    The store starts empty. Each call of `make_store` is one more view of the same store, as another
    process would have it.
    """
    first, second = make_store(), make_store()
    _remembers_exactly(first, second)
    _refuses_another_content(first, second)
    _lets_some_kinds_grow(first, second)
    _writes_all_or_none(first, second)
    _finds_by_owner_in_order(first, second)
    _tells_what_stands_beside(first, second)
    _removes_only_what_grows(first, second)
    _keeps_blobs(first, second)
    _counts_without_repeating(first, second)
    _locks_out_the_other(first, second)
    _loses_nothing_between_writers(first, second)


def _remembers_exactly(first: Store, second: Store) -> None:
    for record in (_task(), _finished()):
        _ensure(first.get(type(record), record.id) is None, "an empty store knows nothing")
        first.commit(record)
        first.commit(record)
        _ensure(second.get(type(record), record.id) == record, f"{record} is not read back as it was")
        _ensure(tuple(second.find(type(record))) == (record,), "the same content again is nothing to do")
    _ensure(first.get(Correction, _task().id) is None, "ids belong to their kind")


def _refuses_another_content(first: Store, second: Store) -> None:
    partition = Partition(wealth=_digest("refuse"), targets=("t-1",), guards=())
    first.commit(partition)
    with _raises(Conflict):
        second.commit(replace(partition, targets=("t-2",)))
    _ensure(first.get(Partition, partition.id) == partition, "an append-only record was replaced")


def _lets_some_kinds_grow(first: Store, second: Store) -> None:
    offset, other = _offset("grow"), _offset("grown later")
    first.commit(offset, other)
    longer = replace(offset, position=20)
    second.commit(longer)
    _ensure(first.get(Offset, offset.id) == longer, "a kind that grows was not replaced")
    _ensure(tuple(first.find(Offset)) == (longer, other), "a replaced record keeps its place")


def _writes_all_or_none(first: Store, second: Store) -> None:
    known = Partition(wealth=_digest("known"), targets=(), guards=())
    new = Partition(wealth=_digest("new"), targets=(), guards=())
    first.commit(known)
    with _raises(Conflict):
        first.commit(new, replace(known, guards=("t-9",)))
    _ensure(second.get(Partition, new.id) is None, "part of a refused commit was written")
    first.commit()


def _finds_by_owner_in_order(first: Store, second: Store) -> None:
    pairs = [_pair("of one", draw) for draw in (9, 3, 7)]
    stranger = _pair("of another", 4)
    first.commit(pairs[0], stranger)
    second.commit(*pairs[1:])
    _ensure(list(first.find(Pair, pairs[0].wealth)) == pairs, "not those of the owner in order of writing")
    _ensure(list(first.find(Pair)) == [pairs[0], stranger, *pairs[1:]], "not all in order of writing")
    _ensure(not first.find(Pair, ""), 'the owner "" is an owner, not all of them')
    _ensure(list(second.owners(Pair)) == sorted({pairs[0].wealth, stranger.wealth}), "not each owner once")
    with _raises(Conflict):
        first.commit(replace(pairs[0], draft_score=0.0))


def _tells_what_stands_beside(first: Store, second: Store) -> None:
    before = dict(first.beside(Offset, "stamp"))
    one, other, grown = _cursor("a", 1), _cursor("b", 2), _cursor("a", 3)
    first.commit(one, other)
    both = {one.id: one.stamp, other.id: other.stamp}
    _ensure(second.beside(Offset, "stamp") == {**before, **both}, "not of each record")
    second.commit(grown)
    second.remove(Offset, other.id)
    now = {**before, grown.id: grown.stamp}
    _ensure(first.beside(Offset, "stamp") == now, "not that of the record as it is now")


def _cursor(path: str, size: int) -> Offset:
    return Offset(source="beside", path=path, position=0, size=size, mtime=AT, head="", session="")


def _removes_only_what_grows(first: Store, second: Store) -> None:
    correction = Correction(key="use a not b", statement="use a", moments=(_moment(),))
    first.commit(correction)
    second.remove(Correction, correction.id)
    second.remove(Correction, correction.id)
    _ensure(first.get(Correction, correction.id) is None, "what was removed is still there")
    task = _task()
    with _raises(TypeError):
        first.remove(Task, task.id)
    _ensure(first.get(Task, task.id) == task, "an append-only record was removed")


def _keeps_blobs(first: Store, second: Store) -> None:
    for content in (b"", b"\xff\x00\r\n", b"x" * 100_000):
        digest = first.put_blob(content)
        _ensure(digest == digest_bytes(content), "a blob's name is its digest")
        _ensure(second.put_blob(content) == digest, "the same content has one name")
        _ensure(second.blob(digest) == content, "a blob is not read back as it was")
    with _raises(NotFound):
        first.blob(_digest("never stored"))


def _counts_without_repeating(first: Store, second: Store) -> None:
    _ensure(first.taken("draws of check") == 0, "of a counter that was not used nothing was taken")
    _ensure(first.take("draws of check") == 1, "a counter starts at 1")
    _ensure(second.take("draws of check", 5) == 2, "the next view goes on")
    _ensure(first.taken("draws of check") == 6, "all of a range are taken, and each view sees it")
    _ensure(first.take("draws of check") == 7, "all of a range are taken")
    _ensure(first.take("other draws of check") == 1, "counters do not know each other")
    with _raises(ValueError):
        first.take("draws of check", 0)


def _locks_out_the_other(first: Store, second: Store) -> None:
    with first.hold("check"):
        with _raises(Busy), second.hold("check"):
            pass
        with _raises(Busy), first.hold("check"):
            pass
        with second.hold("check-other"):
            pass
    _ensure(first.holder("check") is None, "nobody holds a lock that was let go")
    _ensure(first.holder("check-never") is None, "nobody holds a lock that nobody ever took")
    with first.hold("check", by="n-0001\nwhat it does"):
        for view in (first, second):
            _ensure(view.holder("check") == "n-0001", "who holds a lock is known by its name")
        with _raises(Busy), second.hold("check"):
            pass

    def fail_while_holding() -> None:
        with second.hold("check"):
            raise KeyError

    with _raises(KeyError):
        fail_while_holding()
    with first.hold("check"):
        pass


def _loses_nothing_between_writers(first: Store, second: Store) -> None:
    views = (first, second)

    def write(number: int) -> int:
        view = views[number % 2]
        view.commit(_lost_try(number))
        return view.take("draws of writers")

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(write, range(24)))
    _ensure(sorted(taken) == list(range(1, 25)), "a number was given twice or lost")
    stored = {lost.attempt for lost in first.find(LostTry, "concurrent")}
    _ensure(stored == set(range(24)), "a commit beside others was lost")


def _ensure(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise AssertionError(otherwise)


@contextmanager
def _raises(expected: type[Exception]) -> Iterator[None]:
    try:
        yield
    except expected:
        return
    raise AssertionError(f"{expected.__name__} was not raised")


def _digest(text: str) -> Digest:
    return digest_bytes(text.encode())


def _moment() -> Moment:
    return Moment(session="claude-code:s1", turn=2, quote="use a,\nnot b \u2028\U0001f680", at=AT)


def _task() -> Task:
    return Task(
        prompt="Make it so \x00 \u00e9",
        workspace=FilesSource(files=(File(path="a.bin", content=b"\xff\xfe\r\n", mode=0o755),)),
        checks=(Footprint(wanted="a", unwanted="b"), Touched(paths=("a.bin",))),
        session="claude-code:s1",
        turn=0,
        source="claude-code",
        project="/p",
        cluster="s1",
        split=Split.HOLDOUT,
        at=AT,
    )


def _finished() -> Finished:
    outcome = Delivered(
        reply="done",
        files=(FileChange(path="a", content=b"\xff"), FileChange(path="b", content=None)),
        trajectory=(ToolCall(call_id="1", name="shell", command="true", status=CallStatus.OK, exit_code=0),),
        usage=Usage(tokens=12, cost=Decimal("0.10"), wall=timedelta(seconds=1.5)),
    )
    return Finished(
        key=_digest("job"),
        cycle="cycle",
        role=Role.ATTEMPT,
        agent="scripted",
        started_at=AT,
        ended_at=AT + timedelta(seconds=1),
        outcome=outcome,
    )


def _offset(path: str) -> Offset:
    return Offset(source="codex", path=path, position=10, size=30, mtime=AT, head="h", session="")


def _pair(wealth: str, draw: int) -> Pair:
    return Pair(
        wealth=_digest(wealth),
        draw=draw,
        role="target",
        task="t-1",
        cluster="s1",
        base_score=0.0,
        draft_score=1.0,
        cycle="cycle",
    )


def _lost_try(number: int) -> LostTry:
    return LostTry(
        key=_digest("job"),
        attempt=number,
        cycle="concurrent",
        reason=Reason.INFRASTRUCTURE,
        message="away",
        usage=Usage(),
    )
