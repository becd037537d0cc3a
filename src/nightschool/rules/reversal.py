"""The edits that take edits back, and which edits stand in the way of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nightschool.core.proposals import Edit
from nightschool.rules.memory_block import is_among, same_rule


def reversed_edits(edits: Sequence[Edit], old: Sequence[str]) -> tuple[Edit, ...]:
    """What undoes these edits, the last one first. `old` are the rules of the file that they were made on:
    one comes back in the words that it had there, at the end of the block where it was deleted."""
    return tuple(_reversed(edit, old) for edit in reversed(edits))


def touches(later: Iterable[Edit], edits: Sequence[Edit]) -> bool:
    """Whether later edits concern a rule that these edits wrote or took away."""
    ours = [text for edit in edits for text in (edit.rule, edit.anchor) if text.strip()]
    theirs = [text for edit in later for text in (edit.rule, edit.anchor) if text.strip()]
    return any(same_rule(one, other) for one in ours for other in theirs)


def still_there(edits: Iterable[Edit], rules: Sequence[str]) -> tuple[Edit, ...]:
    """Those of the edits that a file with these rules shows: what they wrote is there, what they took away is
    not."""
    return tuple(
        edit
        for edit in edits
        if (not is_among(edit.anchor, rules) if edit.op == "delete" else is_among(edit.rule, rules))
    )


def _reversed(edit: Edit, old: Sequence[str]) -> Edit:
    was = next((rule for rule in old if same_rule(rule, edit.anchor)), edit.anchor)
    match edit.op:
        case "add":
            return replace(edit, op="delete", rule="", anchor=edit.rule)
        case "delete":
            return replace(edit, op="add", rule=was, anchor="")
        case "replace":
            return replace(edit, rule=was, anchor=edit.rule)
