"""A SKILL.md is edited in its body alone, and byte for byte as little as the edit says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.core.errors import UserError
from nightschool.core.proposals import Edit
from nightschool.core.skills import fields, head_and_body, head_faults
from nightschool.core.tasks import Moment
from nightschool.rules.memory_block import BEGIN, END
from nightschool.rules.skill_body import apply, rules

MOMENT = Moment(session="s", turn=1, quote="say it")
BODY = """# Notes

Read the log first.
It is long.

* Use British dates.
  Also in tables.
* Name the author.

1. Tag.
2. Push.

```sh
- no rule, but code
```

> no rule, but a quote
"""
HEAD = """---
name: release-notes
description: "Notes: dates, authors"
allowed-tools: Bash(git log:*)
x-unknown: {a: [1, 'b']}   # kept
---
"""
FILE = (HEAD + BODY).encode()


def edit(op: str, rule: str = "", anchor: str = "") -> Edit:
    return Edit(op=op, rule=rule, anchor=anchor, moment=MOMENT)  # type: ignore[arg-type]  # one of three words


def test_what_can_be_edited_is_items_and_paragraphs() -> None:
    """Each item of a list and each paragraph is a rule; head, headings, code and quotes are none: no edit
    loses a heading or puts a plan in the place of a body (B42)."""
    assert rules(FILE) == (
        "Read the log first.\nIt is long.",
        "Use British dates.\nAlso in tables.",
        "Name the author.",
        "Tag.",
        "Push.",
    )


def test_an_added_rule_stands_in_the_marked_block_at_the_end() -> None:
    """All that was there stays as it was, before the block; deleting the rule gives the file back."""
    added = apply(FILE, [edit("add", "Thank the reviewers.")]).content
    assert added.startswith(FILE + b"\n" + BEGIN.encode())
    assert added.endswith(b"- Thank the reviewers.\n" + END.encode() + b"\n")
    assert apply(added, [edit("delete", anchor="Thank the reviewers.")]).content == FILE


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_rule_by_hand_is_replaced_in_its_place(ends: str) -> None:
    """What a person wrote is replaced by its whole text, with its mark and its kind of line ends."""
    given_file = (HEAD + BODY).replace("\n", ends).encode()
    wanted = "Use ISO dates.\nEverywhere."
    changed = apply(given_file, [edit("replace", wanted, "Use British dates. Also in tables.")])
    old = "* Use British dates.\n  Also in tables.\n".replace("\n", ends)
    new = "* Use ISO dates.\n  Everywhere.\n".replace("\n", ends)
    assert changed.content == given_file.decode().replace(old, new).encode()
    assert not changed.refused


def test_a_rule_by_hand_is_deleted_whole() -> None:
    """A contradicting line goes, instead of being shouted down by a louder one."""
    changed = apply(FILE, [edit("delete", anchor="Push.")])
    assert changed.content == FILE.replace(b"2. Push.\n", b"")


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (edit("delete", anchor="Push"), "no-match"),
        (edit("replace", "Push twice.", "no rule, but code"), "no-match"),
        (edit("delete", anchor="name: release-notes"), "no-match"),
        (edit("add", "Name  the author."), "already-there"),
        (edit("replace", "Tag.", "Push."), "already-there"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(one: Edit, code: str) -> None:
    """Part of a rule, code, the head and what is there already are no target."""
    done = apply(FILE, [one])
    assert done.content == FILE
    assert [refusal.code for refusal in done.refused] == [code]


def test_a_rule_that_stands_twice_is_not_guessed() -> None:
    """An anchor that two rules have names neither (one anchor never hits several rules)."""
    twice = FILE + b"\n* Push.\n"
    done = apply(twice, [edit("delete", anchor="Push.")])
    assert (done.content, done.refused[0].code) == (twice, "no-match")
    assert "2 rules" in done.refused[0].text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"---\nname: a\n\n# Text\n", "no later line `---`"),
        (b"---\nname: a\n" + BEGIN.encode() + b"\n" + END.encode() + b"\n---\n", "stands in the head"),
        (b"# A\n" + BEGIN.encode() + b"\n- rule\n", "nothing closes it"),
        (b"\xff\xfe#\x00", "UTF-16"),
        (None, "not there any more"),
    ],
)
def test_a_file_that_cannot_be_edited_is_an_error_with_a_way_out(content: bytes | None, said: str) -> None:
    """A damaged head or block is named, and nothing is changed."""
    with pytest.raises(UserError, match=said) as error:
        apply(content, [edit("add", "x y z")], where="/p/SKILL.md")
    assert str(error.value).startswith(("/p/SKILL.md", "The marked block in /p/SKILL.md"))


texts = st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n"), max_size=20)
values = st.sampled_from(
    ["name: a", 'description: "b: c"', "description: Flags: --all", "x: [1, {y: z}]", "x: >-", "  # note", ""]
)
ends = st.sampled_from(["\n", "\r\n"])
marks = st.sampled_from(["", "\ufeff"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file with or without a mark of byte order, a head with odd values, and a body of odd lines."""
    end, bom = draw(ends), draw(marks)
    head = ["---", *draw(st.lists(values, max_size=5)), draw(st.sampled_from(["---", "--- "]))]
    lines = [*(head if draw(st.booleans()) else []), *draw(st.lists(texts, max_size=6))]
    last = draw(st.sampled_from(["", end]))
    return (bom + end.join(lines) + last).encode("utf-8", "surrogatepass")


@given(files(), st.lists(st.sampled_from(["Use tabs.", "Be brief.", "Say why.\nAlways."]), max_size=3))
def test_head_and_body_survive_any_edit(content: bytes, added: list[str]) -> None:
    """B39: after rules come and go, head and body are the same bytes, whatever they hold."""
    parts = head_and_body(content)
    if parts is None:
        with pytest.raises(UserError):
            rules(content)
        return
    assert b"".join(parts) == content
    changed = apply(content, [edit("add", rule) for rule in added])
    assert changed.content.startswith(content)
    now = head_and_body(changed.content)
    assert now is not None
    assert now[0].removeprefix(parts[0]) in {b"", b"\n", b"\r\n"}, "a head without a line end gets one"
    back = apply(changed.content, [edit("delete", anchor=one.rule) for one in changed.taken])
    assert back.content == content


@given(files())
def test_each_rule_can_be_named_and_only_it_goes(content: bytes) -> None:
    """Deleting a rule takes whole lines out and leaves all others, in their order."""
    if head_and_body(content) is None:
        return
    found = rules(content)
    for rule in found:
        done = apply(content, [edit("delete", anchor=rule)])
        assert len(done.taken) + len(done.refused) == 1
        if done.taken:
            left = iter(content.split(b"\n"))
            assert all(line in left for line in done.content.split(b"\n") if line)
            assert len(done.content) < len(content)


def test_the_head_is_read_without_a_parser() -> None:
    """Names and descriptions in quotes, in blocks and over several lines are read as they are meant."""
    head = (
        b"\xef\xbb\xbf---\r\nname: \"a-b\"\r\ndescription: >-\r\n  One\r\n  two.\r\nnote: 'it''s'\r\n---\r\n"
    )
    assert fields(head) == {"name": "a-b", "description": "One two.", "note": "it's"}
    assert list(head_faults(head)) == []


def test_what_a_parser_of_yaml_would_refuse_is_named() -> None:
    """B37: an unquoted `Flags: --all` is told with its line; it is not rewritten."""
    head = b"---\nname: a\ndescription: Flags: --all\n---\n"
    ((line, text),) = head_faults(head)
    assert line == 3
    assert "mapping values" in text
    assert apply(head + b"# A\n", [edit("add", "Be brief.")]).content.startswith(head)
