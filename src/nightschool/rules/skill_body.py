"""A SKILL.md: its head is kept byte for byte, its body is changed rule by rule.

A rule that is added stands in the marked block at the end of the body. Replacing and deleting reach what a
person wrote too, one whole item of a list or one paragraph at a time, named by its whole text: a skill is
edited only by a draft that a person reviews, and else a wrong line could only be shouted down by another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nightschool.core.errors import UserError
from nightschool.core.harness import Target
from nightschool.core.proposals import Edit
from nightschool.core.skills import head_and_body
from nightschool.rules import memory_block
from nightschool.rules.memory_block import BEGIN, END, Applied, Refusal, clean, same_rule

_ITEM = re.compile(rb" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_CODE = re.compile(rb"\s*(?:`{3,}|~{3,})")
_NO_TEXT = re.compile(rb" {0,3}(?:#{1,6}(?:\s|$)|[>|<]|(?:[-*_][ \t]*){3,}\r?$)|(?: {4}|\t)|\s*$")
_UNDERLINE = re.compile(rb" {0,3}(?:=+|-+)[ \t]*\r?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A rule that a person wrote: where its lines lie, what stands before its text, and the text."""

    start: int
    end: int
    mark: bytes
    rule: str


def edited(target: Target, content: bytes | None, edits: Sequence[Edit], *, where: str) -> Applied:
    """The edits on a file of this kind: on a skill's body, else on the block of a memory file. One that is no
    UTF-8 is refused: nobody could be shown what is changed."""
    memory_block.check_text(content or b"", where=where)
    edit = memory_block.apply if target.skill is None else apply
    return edit(content, edits, where=where)


def rules_of(target: Target, content: bytes | None, *, where: str = "the file") -> tuple[str, ...]:
    """What can be replaced or deleted in a file of this kind; nothing where there is none."""
    if target.skill is None or content is None:
        return memory_block.parse(content, where=where).rules
    return rules(content, where=where)


def rules(content: bytes | None, *, where: str = "the skill") -> tuple[str, ...]:
    """All that can be replaced or deleted: the person's rules, then those of the marked block."""
    _, whole = _parted(content, where)
    return (
        *(written.rule for written in _written(whole, where)),
        *memory_block.parse(whole, where=where).rules,
    )


def apply(content: bytes | None, edits: Sequence[Edit], *, where: str = "the skill") -> Applied:
    """Take the edits one after the other. What cannot be taken is refused with a code, never half done."""
    _, now = _parted(content, where)
    taken: list[Edit] = []
    refused: list[Refusal] = []
    for edit in edits:
        step = _step(now, edit, where)
        now = step.content
        taken += step.taken
        refused += step.refused
    return Applied(content=now, taken=tuple(taken), refused=tuple(refused))


def _parted(content: bytes | None, where: str) -> tuple[bytes, bytes]:
    """The head, and the whole file, if it can be edited."""
    if content is None:
        raise UserError(f"{where} is not there any more. Nothing was changed.")
    memory_block.parse(content, where=where)
    parts = head_and_body(content)
    if parts is None:
        raise UserError(
            f"{where}: line 1 opens a head and no later line `---` closes it. Nothing was changed. "
            "Close the head, or delete line 1."
        )
    head, _ = parts
    if any(line.strip() in {BEGIN.encode(), END.encode()} for line in head.split(b"\n")):
        raise UserError(f"{where}: a marker of the block stands in the head. Nothing was changed. Delete it.")
    return head, content


def _step(content: bytes, edit: Edit, where: str) -> Applied:
    known = [written.rule for written in _written(content, where)]
    if edit.op != "delete" and any(same_rule(rule, edit.rule) for rule in known):
        return _refused(content, edit, "already-there", "the skill already says this")
    step = memory_block.apply(content, [edit], where=where)
    if edit.op == "add" or step.taken or step.refused[0].code != "no-match":
        return step
    return _by_hand(content, edit, where)


def _refused(content: bytes, edit: Edit, code: str, text: str) -> Applied:
    return Applied(content=content, taken=(), refused=(Refusal(edit, code, text),))


def _by_hand(content: bytes, edit: Edit, where: str) -> Applied:
    """Replace or delete a rule that a person wrote."""
    found = [one for one in _written(content, where) if same_rule(one.rule, edit.anchor)]
    if len(found) != 1:
        anchor = clean(edit.anchor)
        text = f"{len(found)} rules read" if found else "no rule reads"
        return _refused(content, edit, "no-match", f"{text} exactly: {anchor!r}")
    (old,) = found
    fresh = b"" if edit.op == "delete" else _lines_of(edit.rule, old, content)
    changed = content[: old.start] + fresh + content[old.end :]
    return Applied(content=changed, taken=(edit,), refused=())


def _lines_of(rule: str, old: Written, content: bytes) -> bytes:
    """The new text with the old mark and the old kind of line ends."""
    was = content[old.start : old.end]
    ends = b"\r\n" if b"\r\n" in was or (b"\n" not in was and b"\r\n" in content) else b"\n"
    first, *rest = clean(rule).encode("utf-8", "surrogateescape").split(b"\n")
    indent = b" " * len(old.mark)
    text = ends.join([old.mark + first, *(indent + line if line else b"" for line in rest)])
    return text + ends if was.endswith(b"\n") else text


def _written(content: bytes, where: str) -> Iterator[Written]:
    """Items of lists and paragraphs of the body, outside of code, headings, quotes, tables and the block."""
    parts = head_and_body(content)
    block = memory_block.parse(content, where=where)
    start = len(parts[0]) if parts is not None else 0
    behind = len(content) - len(block.after)
    for first, last in ((start, len(block.before)), (behind, len(content))):
        if first < last:
            yield from _pieces(content, first, last)


def _pieces(content: bytes, start: int, end: int) -> Iterator[Written]:
    lines = [(start + found.start(), found.group()) for found in _LINE.finditer(content[start:end])]
    at = 0
    while at < len(lines):
        if _CODE.match(lines[at][1]):
            at = _behind_code(lines, at)
            continue
        item = _ITEM.match(lines[at][1])
        if item is None and _NO_TEXT.match(lines[at][1]):
            at += 1
            continue
        behind = _behind(lines, at, is_item=item is not None)
        if item is None and behind < len(lines) and _UNDERLINE.match(lines[behind][1]):
            at = behind + 1  # a heading that is underlined
            continue
        own = [line for _, line in lines[at:behind]]
        fences = [place for place, line in enumerate(own, start=at) if _CODE.match(line)]
        if len(fences) % 2:
            behind = max(behind, _behind_code(lines, fences[-1]))
        if not fences:
            mark = b"" if item is None else item.group()
            text = _text([own[0][len(mark) :], *own[1:]])
            if text:
                stop = lines[behind - 1][0] + len(own[-1])
                yield Written(start=lines[at][0], end=stop, mark=mark, rule=text)
        at = behind


def _behind_code(lines: Sequence[tuple[int, bytes]], at: int) -> int:
    mark = lines[at][1].strip()[:3]
    ahead = at + 1
    while ahead < len(lines) and not lines[ahead][1].strip().startswith(mark):
        ahead += 1
    return ahead + 1


def _behind(lines: Sequence[tuple[int, bytes]], at: int, *, is_item: bool) -> int:
    """Behind the lines of one rule: an item goes on in lines that are indented, also behind empty ones."""
    behind = ahead = at + 1
    while ahead < len(lines):
        line = lines[ahead][1]
        if not line.strip():
            if not is_item:
                break
            ahead += 1
            continue
        indented = line.startswith((b"  ", b"\t"))
        if is_item and indented and not _is_outer(line):
            ahead += 1
            behind = ahead
            continue
        lazy = ahead == behind and not (_ITEM.match(line) or _CODE.match(line) or _NO_TEXT.match(line))
        if not lazy or _UNDERLINE.match(line):
            break
        ahead += 1
        behind = ahead
    return behind


def _is_outer(line: bytes) -> bool:
    """Whether it is an item of the list itself that is indented by one space at most."""
    return bool(_ITEM.match(line)) and len(line) - len(line.lstrip(b" ")) < 2


def _text(lines: Sequence[bytes]) -> str:
    bare = [line.strip() for line in lines]
    return clean(b"\n".join(bare).decode("utf-8", "surrogateescape"))
