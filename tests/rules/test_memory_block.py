from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from nightschool.core.errors import UserError
from nightschool.core.proposals import Edit
from nightschool.core.tasks import Moment
from nightschool.rules.memory_block import (
    BEGIN,
    EARLIER_INTRO,
    END,
    INTRO,
    Applied,
    apply,
    clean,
    parse,
    render,
)

MOMENT = Moment(session="claude-code:s1", turn=2, quote="use pnpm")
BOM = b"\xef\xbb\xbf"


def edit(op: Literal["add", "replace", "delete"], rule: str = "", anchor: str = "") -> Edit:
    return Edit(op=op, rule=rule, anchor=anchor, moment=MOMENT)


def add(rule: str) -> Edit:
    return edit("add", rule)


def block(*lines: str, newline: str = "\n") -> bytes:
    return newline.join([BEGIN, *lines, END, ""]).encode()


def one(applied: Applied) -> str:
    """The code of the one refusal."""
    assert not applied.taken
    (refusal,) = applied.refused
    return refusal.code


line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=30)
rules = (
    st.lists(
        st.one_of(line, line.map("- ".__add__), line.map("  ".__add__), st.just("")), min_size=1, max_size=4
    )
    .map("\n".join)
    .map(clean)
    .filter(bool)
)
outside = st.one_of(
    st.binary(max_size=60),
    st.lists(
        st.sampled_from(
            [b"# T\n", b"\n", b"\r\n", b"```\n", b"- mine\r\n", b"* x\n", b"text", b"\xff\n", b"\r", b"  "]
        ),
        max_size=8,
    ).map(b"".join),
)  # fmt: skip
files = (
    st.tuples(st.sampled_from([b"", BOM]), outside)
    .map(b"".join)
    .filter(lambda content: not content.startswith((b"\xff\xfe", b"\xfe\xff")))
)


@given(files, rules)
@example(b"\r\n\n", "mixed line ends")
@example(b"abc\r", "no line end")
@example(BOM, "a mark alone")
def test_add_then_delete_gives_the_old_bytes_back(content: bytes, rule: str) -> None:
    """B39: with any bytes around it (BOM, CRLF, no final line end, no UTF-8), a rule that was added and
    deleted leaves the file as it was."""
    added = apply(content, [add(rule)])
    assert added.taken
    assert added.content.startswith(content)
    assert parse(added.content).rules == (rule,)
    assert apply(added.content, [edit("delete", anchor=rule)]).content == content


@given(files, files, st.lists(rules, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_bytes_outside_the_block_survive(before: bytes, after: bytes, new: list[str], newline: str) -> None:
    """Whatever stands before and behind the block, and line ends of either kind, survive any edits."""
    assume(not before or before.endswith(b"\n"))
    content = before + block("- old rule", newline=newline) + after
    changed = apply(content, [add(rule) for rule in new]).content
    assert changed.startswith(before + BEGIN.encode() + newline.encode())
    assert changed.endswith(newline.encode() + END.encode() + newline.encode() + after)
    for rule in parse(changed).rules[1:]:
        changed = apply(changed, [edit("delete", anchor=rule)]).content
    assert changed == content


OPS: tuple[Literal["add", "replace", "delete"], ...] = ("add", "replace", "delete")
marked = [f"x {BEGIN}", END, f"a\n{END}\nb"]
texts = st.one_of(rules, st.sampled_from([*marked, "", "ours", "- ours", "two\nlines"]))
markers = st.sampled_from([BEGIN.encode() + b"\n", END.encode() + b"\r\n"])


@given(
    files,
    files,
    st.lists(st.tuples(st.sampled_from(OPS), texts, texts), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
)
def test_no_edit_reaches_what_is_not_ours(
    before: bytes,
    after: bytes,
    changes: list[tuple[Literal["add", "replace", "delete"], str, str]],
    newline: str,
) -> None:
    """Whatever an editor asks for, in any order, with markers in its texts: what stands before and behind
    the block, and a person's own line in it, stay byte for byte, and each edit is taken or refused."""
    assume(not before or before.endswith(b"\n"))
    content = before + block("a person's line", "- ours", newline=newline) + after
    edits = [edit(op, rule, anchor) for op, rule, anchor in changes]
    applied = apply(content, edits)
    begin, end = (mark.encode() + newline.encode() for mark in (BEGIN, END))
    own = b"a person's line" + newline.encode()
    assert applied.content.startswith(before + begin + own)
    assert applied.content.endswith(end + after)
    assert len(applied.taken) + len(applied.refused) == len(edits)
    assert parse(applied.content).before == before
    assert parse(applied.content).after == after
    if not applied.taken:
        assert applied.content == content


@given(st.lists(st.one_of(outside, markers), max_size=6))
def test_markers_anywhere_are_refused_or_kept(pieces: list[bytes]) -> None:
    """With markers missing, doubled or reversed the file is refused whole; else it is read exactly."""
    content = b"\n".join(pieces)
    assume(not content.startswith((b"\xff\xfe", b"\xfe\xff")))
    lines = [line.strip() for line in content.removeprefix(BOM).split(b"\n")]
    begins = [at for at, text in enumerate(lines) if text == BEGIN.encode()]
    ends = [at for at, text in enumerate(lines) if text == END.encode()]
    whole = (not begins and not ends) or (len(begins) == len(ends) == 1 and begins < ends)
    if whole:
        assert render(parse(content)) == content
    else:
        with pytest.raises(UserError, match="Nothing was changed"):
            apply(content, [add("rule")])


@given(files)
def test_parse_and_render_are_exact(content: bytes) -> None:
    """A file that is read and not changed is written as it was."""
    assert render(parse(content)) == content
    inside = block()[:-1].replace(END.encode(), b"")
    whole = inside + content.replace(BOM, b"") + b"\n" + END.encode()
    assert render(parse(whole)) == whole


@given(st.lists(rules, min_size=1, max_size=5))
def test_rules_round_trip_exactly(new: list[str]) -> None:
    """Rules of several lines, with leading dashes or indents, are read back as they were given."""
    applied = apply(None, [add(rule) for rule in new])
    assert list(parse(applied.content).rules) == [clean(taken.rule) for taken in applied.taken]


def test_new_file_gets_only_the_block() -> None:
    """Where there was no file, the file holds the block and nothing else; deleting its rule empties it."""
    applied = apply(None, [add("Use pnpm, not npm.")])
    assert applied.content == f"{BEGIN}\n{INTRO}\n- Use pnpm, not npm.\n{END}\n".encode()
    assert apply(applied.content, [edit("delete", anchor="Use pnpm, not npm.")]).content == b""


def test_a_block_with_earlier_words_goes_whole() -> None:
    """The words at its top were others once: with its last rule such a block goes too."""
    made = apply(b"# Mine\n", [add("a")]).content.replace(INTRO.encode(), EARLIER_INTRO.encode())
    assert EARLIER_INTRO.encode() in made
    assert apply(made, [edit("delete", anchor="a")]).content == b"# Mine\n"


def test_crlf_file_keeps_its_line_ends() -> None:
    """B39: a block made in a CRLF file has CRLF in every line, also within a rule."""
    content = "# Projekt → Übersicht\r\n".encode()
    applied = apply(content, [add("one\ntwo")])
    assert applied.content.count(b"\n") == applied.content.count(b"\r\n")
    assert parse(applied.content).rules == ("one\ntwo",)


def test_leading_dashes_stay() -> None:
    """A rule that begins with dashes is not read as a list in a list."""
    applied = apply(b"# x\n", [add("--dry-run first"), add("- a dash")])
    assert parse(applied.content).rules == ("--dry-run first", "- a dash")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (f"a\n{BEGIN}\n- x\nmine\n", "line 2 opens the block and nothing closes it"),
        (f"a\n{END}\nmine\n", "line 2 closes a block that nothing opens"),
        (f"{END}\n{BEGIN}\n", "line 1 closes the block before line 2 opens it"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n", "lines 1, 2, 3"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", "lines 1, 2, 3, 4"),
    ],
)
def test_damaged_block_is_refused(content: str, named: str) -> None:
    """A marker that is missing, doubled or reversed is an error that names file, lines and the way out."""
    with pytest.raises(UserError, match=named) as caught:
        apply(content.encode(), [add("rule")], where="CLAUDE.md")
    assert "CLAUDE.md" in str(caught.value)
    assert "Nothing was changed" in str(caught.value)


def test_utf16_is_refused() -> None:
    """B39: a file that is not UTF-8 by its mark is refused, not filled with bytes of another encoding."""
    with pytest.raises(UserError, match="UTF-16"):
        apply("# x\n".encode("utf-16"), [add("rule")])


@pytest.mark.parametrize("rule", [f"x {END}", f"a\n{BEGIN}\nb", "<!-- NIGHTSCHOOL:END -->"])
def test_rule_with_a_marker_is_refused(rule: str) -> None:
    """A rule that carries a marker would split the block."""
    assert one(apply(b"# x\n", [add(rule)])) == "outside-target"


def test_what_a_person_wrote_inside_stays_in_place() -> None:
    """Prose, other bullets and empty lines inside the block are kept where they are."""
    content = block(
        "Please read:", "", "* mine", "  more of mine", "- ours", "  and more", "", "a word", "- last"
    )
    parsed = parse(content)
    assert parsed.rules == ("ours\nand more", "last")
    changed = apply(
        content, [edit("replace", "new", "ours\nand more"), edit("delete", anchor="last"), add("end")]
    )
    expected = block("Please read:", "", "* mine", "  more of mine", "- new", "", "a word", "- end")
    assert changed.content == expected
    emptied = apply(changed.content, [edit("delete", anchor="new"), edit("delete", anchor="end")]).content
    assert emptied == block("Please read:", "", "* mine", "  more of mine", "", "a word")


def test_known_rule_is_not_added_again() -> None:
    """Adding a rule already present changes nothing and says so."""
    content = block("- Use pnpm,", "  not npm.")
    applied = apply(content, [add("Use pnpm, not npm.")])
    assert one(applied) == "already-there"
    assert applied.content == content


@pytest.mark.parametrize("anchor", ["Use", "use pnpm", "Use pnpm in CI too", "", "*"])
@pytest.mark.parametrize("op", ["replace", "delete"])
def test_a_fragment_matches_nothing(op: Literal["replace", "delete"], anchor: str) -> None:
    """Replace and delete match the whole text of a rule, never a part of it."""
    content = block("- Use pnpm", "- Use pnpm in CI")
    applied = apply(content, [edit(op, "new" if op == "replace" else "", anchor)])
    assert one(applied) == "no-match"
    assert applied.content == content


def test_delete_removes_exactly_one() -> None:
    """One delete removes one rule, also where the same stands twice."""
    content = block("- twice", "- other", "- twice")
    assert parse(apply(content, [edit("delete", anchor="twice")]).content).rules == ("other", "twice")


def test_nothing_to_do_changes_nothing() -> None:
    """Without a block and without an edit that is taken the content is the old one."""
    assert apply(b"abc", []).content == b"abc"
    assert one(apply(b"abc", [edit("delete", anchor="x")])) == "no-match"
    assert apply(None, []).content == b""
    assert one(apply(b"abc", [add(" \n ")])) == "bad-reply"


def test_text_behind_the_block_keeps_its_line() -> None:
    """Text that a person put behind the block is not joined to what stands before it."""
    content = apply(b"before\n", [add("rule")]).content + b"behind\n"
    assert apply(content, [edit("delete", anchor="rule")]).content == b"before\n\nbehind\n"


def test_a_marker_within_a_line_is_text() -> None:
    """Who writes about the markers in words of their own has made no block, and ended none."""
    said = f"Rules go between `{BEGIN}` and `{END}`.\n".encode()
    added = apply(said, [add("use pnpm")]).content
    assert added.startswith(said)
    assert parse(added).rules == ("use pnpm",)
    inside = block(f"mine: {END} ends it", "- use npm")
    changed = apply(inside, [add("use pnpm")]).content
    assert parse(changed).rules == ("use npm", "use pnpm")
    assert f"\nmine: {END} ends it\n".encode() in changed
