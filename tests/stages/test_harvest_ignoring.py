"""What an ignore list names is never stored: of no source, in no part, also when it grows."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from nightschool.core.forgetting import IgnoreList, Skipped, Thing, trace_of
from nightschool.core.sessions import Offset, Session
from nightschool.rules.ignoring import Ignoring
from stages.test_harvest import NOW, Home, names
from transcripts import claude, codex_item, codex_meta, write_rows

WORDS = Ignoring(own=IgnoreList(words=("zanzibar",)))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def stored(home: Home) -> str:
    kinds = (Session, Offset, Skipped)
    return repr([record for kind in kinds for record in home.store.find(kind)])


def test_of_each_source_nothing_is_stored(home: Home) -> None:
    """A session with an ignored word is counted and leaves neither a turn nor a cursor nor its path."""
    home.claude("marked", claude("user", 1, "the Zanzibar deal"))
    home.codex("rollout-marked.jsonl", codex_meta(id="b"), codex_item(1, "about ZANZIBAR"))
    home.codex("rollout-other.jsonl", codex_meta(id="c"), codex_item(1, "about tea"))
    report = home.harvest(ignoring=WORDS)
    assert names(report) == ["c"]
    assert dict(report.counts) == {"ignored": 2}
    assert "zanzibar" not in stored(home).casefold()
    assert "marked" not in stored(home)
    assert len(home.store.find(Offset)) == 1


def test_what_was_left_out_is_opened_again_only_when_it_or_the_list_changes(home: Home) -> None:
    """A second harvest reads nothing; with another list, or with more in the file, it is read anew."""
    path = home.claude("a", claude("user", 1, "the Zanzibar deal"))
    home.harvest(ignoring=WORDS)
    again = home.harvest(ignoring=WORDS)
    assert (again.files, dict(again.counts)) == (0, {"ignored": 1})
    write_rows(path, [claude("user", 1, "the Zanzibar deal"), claude("user", 2, "and tea")])
    grown = home.harvest(ignoring=WORDS)
    assert (grown.files, dict(grown.counts)) == (1, {"ignored": 1})
    freed = home.harvest(ignoring=Ignoring())
    assert len(names(freed)) == 1
    assert len(freed.sessions[0].turns) == 2
    assert not home.store.find(Skipped)


def test_a_word_in_a_later_part_keeps_that_part_out_and_names_the_first(home: Home) -> None:
    """What was stored before the word was said is marked, so that the next cycle forgets it."""
    first = claude("user", 1, "some tea")
    path = home.claude("a", first)
    home.harvest(ignoring=WORDS)
    write_rows(path, [first, claude("user", 2, "for the Zanzibar deal")])
    report = home.harvest(ignoring=WORDS)
    assert names(report) == []
    assert "zanzibar" not in stored(home).casefold()
    (skipped,) = home.store.find(Skipped)
    assert home.store.get(Session, skipped.stored) is not None
    write_rows(path, [first, claude("user", 2, "for the Zanzibar deal"), claude("user", 3, "or coffee")])
    home.harvest(ignoring=WORDS)
    assert "coffee" not in stored(home)


def test_a_file_is_left_out_by_its_path_unopened(home: Home) -> None:
    """`ignore.paths` and what was forgotten need no look into the file."""
    path = home.claude("a")
    path.chmod(0)
    rules = Ignoring(own=IgnoreList(paths=("*/projects/-p/*",)))
    report = home.harvest(ignoring=rules)
    assert (report.files, dict(report.counts)) == (0, {"ignored": 1})
    trace = trace_of(Thing.FILE, f"claude-code:{path}")
    report = home.harvest(ignoring=Ignoring(forgotten=frozenset({trace})))
    assert (report.files, dict(report.counts)) == (0, {"forgotten": 1})


def test_a_named_file_is_left_out_too(home: Home) -> None:
    """Who names a file does not thereby say that the list no longer holds."""
    path = home.claude("a", claude("user", 1, "the Zanzibar deal"))
    report = home.harvest(path, ignoring=WORDS)
    assert (names(report), dict(report.counts)) == ([], {"ignored": 1})


def test_a_projects_own_list_is_looked_at_each_time(home: Home) -> None:
    """That list may change without a word to us: the file is read again, and taken once it is free."""
    lists = [IgnoreList(words=("zanzibar",))]
    rules = Ignoring(of_folder=lambda _: lists[0])
    home.claude("a", claude("user", 1, "the Zanzibar deal"))
    assert dict(home.harvest(ignoring=rules).counts) == {"ignored": 1}
    lists[0] = IgnoreList()
    assert len(names(home.harvest(ignoring=rules))) == 1


def test_what_is_older_than_it_is_kept_is_not_read(home: Home) -> None:
    """Retention holds at the door too: an old session is counted, not stored and forgotten again."""
    home.claude("a")
    report = home.harvest(ignoring=Ignoring(oldest=NOW - timedelta(days=1), days=1))
    assert dict(report.counts) == {"too-old": 1}
    assert not home.store.find(Session)


def test_a_dry_run_leaves_no_mark(home: Home) -> None:
    """Nothing is stored in a dry run, not even what was left out."""
    home.claude("a", claude("user", 1, "the Zanzibar deal"))
    home.harvest(ignoring=WORDS, dry_run=True)
    assert not home.store.find(Skipped)
