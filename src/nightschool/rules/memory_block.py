"""The one marked block in a memory file: read, changed rule by rule, written back byte for byte.

All outside the markers is a person's and is never touched; inside, only what reads as a rule
(`- text`, further lines indented by two spaces) is ours, other lines stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nightschool.core.errors import UserError
from nightschool.core.proposals import Edit

BEGIN = "<!-- nightschool:begin -->"
END = "<!-- nightschool:end -->"
INTRO = (
    "<!-- Learned from your corrections. Edit freely: `nightschool undo --keep-later` takes the last change "
    "back and leaves your edits. -->"
)
EARLIER_INTRO = (
    "<!-- Learned from your corrections. Edit freely; `nightschool undo` takes the last change back. -->"
)
"""What stands in blocks that were made before."""
OWN_LINES = (BEGIN, END, INTRO, EARLIER_INTRO)
_INTROS = frozenset({INTRO.encode(), EARLIER_INTRO.encode()})

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Refusal(NamedTuple):
    """An edit that was not taken; `code` is one of those of `RefusedEdit`."""

    edit: Edit
    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of the block as it lies in the file. `rule` is None for lines that are not ours."""

    raw: bytes
    rule: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A memory file, parted. Without a block `begin` is None and `before` is the whole file."""

    before: bytes
    begin: bytes | None
    items: tuple[Item, ...]
    end: bytes
    after: bytes
    newline: bytes

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(item.rule for item in self.items if item.rule is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """`content` is what the file would hold; where nothing was taken it is the old content (b"" of None)."""

    content: bytes
    taken: tuple[Edit, ...]
    refused: tuple[Refusal, ...]


def parse(content: bytes | None, *, where: str = "the memory file") -> Block:
    """Part a file. A damaged block is a `UserError` that names the lines and the way out."""
    content = content or b""
    if content.startswith(_UTF16):
        raise UserError(f"{where} is UTF-16; save it as UTF-8 first. Nothing was changed.")
    bom = _BOM if content.startswith(_BOM) else b""
    lines = _lines(content[len(bom) :])
    begins = [index for index, line in enumerate(lines) if line.strip() == BEGIN.encode()]
    ends = [index for index, line in enumerate(lines) if line.strip() == END.encode()]
    if not begins and not ends:
        return Block(before=content, begin=None, items=(), end=b"", after=b"", newline=_newline(content))
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise UserError(_damage(where, begins, ends))
    first, last = begins[0], ends[0]
    return Block(
        before=bom + b"".join(lines[:first]),
        begin=lines[first],
        items=_items(lines[first + 1 : last]),
        end=lines[last],
        after=b"".join(lines[last + 1 :]),
        newline=b"\r\n" if lines[first].endswith(b"\r\n") else b"\n",
    )


def check_text(content: bytes, *, where: str) -> None:
    """A `UserError` where a file is no text that can be shown."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        kind = "UTF-16" if content.startswith(_UTF16) else f"not UTF-8 (byte {error.start})"
        raise UserError(f"{where} is {kind}; save it as UTF-8 first. Nothing was changed.") from error


def render(block: Block) -> bytes:
    """The file again; of a block that was parsed and not changed, its very bytes."""
    inner = b"".join(item.raw for item in block.items)
    return b"".join([block.before, block.begin or b"", inner, block.end, block.after])


def apply(content: bytes | None, edits: Sequence[Edit], *, where: str = "the memory file") -> Applied:
    """Take the edits one after the other. What cannot be taken is refused with a code, never half done."""
    block = parse(content, where=where)
    taken: list[Edit] = []
    refused: list[Refusal] = []
    for edit in edits:
        changed = _changed(block, edit)
        if isinstance(changed, Refusal):
            refused.append(changed)
        else:
            block = changed
            taken.append(edit)
    result = render(_without_empty(block)) if taken else content or b""
    return Applied(content=result, taken=tuple(taken), refused=tuple(refused))


def without_rules(content: bytes, *, where: str = "the memory file") -> bytes:
    """The file with no rule in the block; markers and intro go too, unless a person wrote between them."""
    block = parse(content, where=where)
    return render(_without_empty(replace(block, items=tuple(i for i in block.items if i.rule is None))))


def without_ours(content: bytes, ours: Collection[str], *, where: str = "the memory file") -> bytes:
    """The file without these rules, markers and intro; what a person wrote between them stays where it is."""
    block = parse(content, where=where)
    left = tuple(item for item in block.items if item.rule is None or not is_among(item.rule, ours))
    bare = _without_empty(replace(block, items=left))
    if bare.begin is None:
        return render(bare)
    kept = [item.raw for item in bare.items if item.raw.strip() not in _INTROS]
    return b"".join([bare.before, *kept, bare.after])


def block_as_written(now: bytes | None, written: bytes | None, *, where: str = "the memory file") -> bool:
    """Whether the block, with its markers, is byte for byte the one that was written."""
    if now is None or written is None:
        return False
    block, ours = (parse(content, where=where) for content in (now, written))
    return block.begin is not None and _inner(block) == _inner(ours)


def with_block_of(now: bytes, old: bytes | None, *, where: str = "the memory file") -> bytes:
    """The file with the block that it had before; all outside the markers stays byte for byte."""
    block, was = (parse(content, where=where) for content in (now, old))
    if was.begin is None:
        if was.before.endswith(b"\n") and block.before == was.before + block.newline:
            return was.before + block.after
        return without_rules(now, where=where)
    # The line of the end marker stays: whether it is the last of the file is not up to the block.
    return render(replace(block, begin=was.begin, items=was.items))


def _inner(block: Block) -> tuple[bytes | None, bytes]:
    return block.begin, b"".join(item.raw for item in block.items)


def clean(rule: str) -> str:
    """A rule as it is kept: line ends as `\\n`, nothing around it."""
    return rule.replace("\r\n", "\n").replace("\r", "\n").strip()


def is_among(rule: str, rules: Collection[str]) -> bool:
    return any(same_rule(rule, one) for one in rules)


def same_rule(one: str, other: str) -> bool:
    """The whole text is the same, however it is wrapped."""
    return one.split() == other.split()


def _lines(content: bytes) -> list[bytes]:
    """Lines with their ends, parted at `\\n` alone: other separators are text."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _newline(content: bytes) -> bytes:
    crlf = content.count(b"\r\n")
    return b"\r\n" if crlf and crlf >= content.count(b"\n") - crlf else b"\n"


def _damage(where: str, begins: list[int], ends: list[int]) -> str:
    if not ends:
        what = f"line {begins[0] + 1} opens the block and nothing closes it"
    elif not begins:
        what = f"line {ends[0] + 1} closes a block that nothing opens"
    elif len(begins) == len(ends) == 1:
        what = f"line {ends[0] + 1} closes the block before line {begins[0] + 1} opens it"
    else:
        numbers = ", ".join(str(index + 1) for index in sorted([*begins, *ends]))
        what = f"there is more than one marker of a kind (lines {numbers})"
    return (
        f"The marked block in {where} is damaged: {what}. Nothing was changed. "
        f"Put one line `{BEGIN}` before the rules and one line `{END}` behind them, or delete these lines."
    )


def _items(lines: list[bytes]) -> tuple[Item, ...]:
    items: list[Item] = []
    at = 0
    while at < len(lines):
        behind = at + 1
        if not lines[at].startswith(b"- "):
            items.append(Item(raw=lines[at]))
            at = behind
            continue
        ahead = behind
        while ahead < len(lines) and (_continues(lines[ahead]) or not lines[ahead].strip()):
            ahead += 1
            if _continues(lines[ahead - 1]):
                behind = ahead  # empty lines belong to the rule only where it goes on behind them
        items.append(Item(raw=b"".join(lines[at:behind]), rule=_text(lines[at:behind])))
        at = behind
    return tuple(items)


def _continues(line: bytes) -> bool:
    return line.startswith((b"  ", b"\t"))


def _text(lines: list[bytes]) -> str:
    bare = [line.rstrip(b"\n").removesuffix(b"\r") for line in lines]
    parts = [line[1:] if line.startswith(b"\t") else line[2:] for line in bare]
    return clean(b"\n".join(parts).decode("utf-8", "surrogateescape"))


def _item(rule: str, newline: bytes) -> Item:
    first, *rest = rule.encode("utf-8", "surrogateescape").split(b"\n")
    lines = [b"- " + first, *(b"  " + line if line else b"" for line in rest)]
    return Item(raw=b"".join(line + newline for line in lines), rule=rule)


def _changed(block: Block, edit: Edit) -> Block | Refusal:
    rule = clean(edit.rule)
    if edit.op != "delete":
        refusal = _unfit(block, edit, rule)
        if refusal is not None:
            return refusal
    if edit.op == "add":
        return _with_block(block, _item(rule, block.newline))
    places = [
        i for i, item in enumerate(block.items) if item.rule is not None and _matches(item.rule, edit.anchor)
    ]
    if not places:
        return Refusal(edit, "no-match", f"no rule reads exactly: {clean(edit.anchor)!r}")
    place = places[0]
    fresh = () if edit.op == "delete" else (_item(rule, block.newline),)
    return replace(block, items=(*block.items[:place], *fresh, *block.items[place + 1 :]))


def _matches(rule: str, anchor: str) -> bool:
    return bool(anchor.strip()) and same_rule(rule, anchor)


def _unfit(block: Block, edit: Edit, rule: str) -> Refusal | None:
    if not rule:
        return Refusal(edit, "bad-reply", "the edit has no rule text")
    if "nightschool:begin" in rule.lower() or "nightschool:end" in rule.lower():
        return Refusal(edit, "outside-target", "a rule cannot carry the block's markers")
    try:
        rule.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return Refusal(edit, "bad-reply", "the rule's text is not valid Unicode")
    if any(same_rule(known, rule) for known in block.rules):
        return Refusal(edit, "already-there", "the block already holds this rule")
    return None


def _with_block(block: Block, item: Item) -> Block:
    """The block with one more rule; made at the end of the file where there is none.

    Reversible without a record: one line end is put before it, and the file ends with a line
    end only if it did before. `_without_empty` reads that back.
    """
    if block.begin is not None:
        return replace(block, items=(*block.items, item))
    line = block.newline
    empty = block.before in {b"", _BOM}
    closed = empty or block.before.endswith(b"\n")
    return replace(
        block,
        before=block.before if empty else block.before + line,
        begin=BEGIN.encode() + line,
        items=(Item(raw=INTRO.encode() + line), item),
        end=END.encode() + (line if closed else b""),
    )


def _without_empty(block: Block) -> Block:
    """Without the block if all that is left in it is ours: then what was put around it goes too."""
    left = [item for item in block.items if item.raw.strip() not in _INTROS | {b""}]
    if block.begin is None or left:
        return block
    before, line = block.before, block.newline
    added = b"\n" + line if block.end.endswith(b"\n") else line
    # What a person put right behind it is not joined to what stands before.
    apart = not block.after or block.after.startswith(line)
    if apart and before.endswith(added):
        before = before[: -len(line)]
    return replace(block, before=before, begin=None, items=(), end=b"")
