"""Memory files: random bytes around the block, random rules in it, edits there and back."""

from __future__ import annotations

from collections import Counter
from random import Random

from nightschool.core.proposals import Edit
from nightschool.core.tasks import Moment
from nightschool.rules.memory_block import Applied, apply, clean, parse, render
from soak.cases import Case, Part, Seen

MOMENT = Moment(session="claude-code:s1", turn=2, quote="use pnpm")
AROUND = (
    b"# T\n",
    b"\n",
    b"\r\n",
    b"```\n",
    b"- mine\r\n",
    b"* x\n",
    b"text",
    b"\xff\n",
    b"\r",
    b"  ",
    b"\t- y\n",
)
WORDS = (
    "use",
    "pnpm",
    "not",
    "npm",
    "-",
    "--flag",
    "*",
    "`x`",
    "é",
    "漢",
    "🙂",
    "\u2028",
    "<!--",
    "-->",
    "#",
    "\x0c",
)


def _file(random: Random) -> bytes:
    mark = random.choice((b"", b"", b"\xef\xbb\xbf"))
    if random.random() < 0.3:
        noise = random.randbytes(random.randrange(80))
        return mark + noise.replace(b"\xff\xfe", b"").replace(b"\xfe\xff", b"")
    return mark + b"".join(random.choices(AROUND, k=random.randrange(9)))


def _rule(random: Random, number: int) -> str:
    lines = [
        random.choice(("", "- ", "  ", "\t")) + " ".join(random.choices(WORDS, k=random.randrange(1, 7)))
        for _ in range(random.randrange(1, 4))
    ]
    return clean("\n".join([*lines[:-1], f"{lines[-1]} {number}"]))


def _edited(content: bytes | None, op: str, rule: str = "", anchor: str = "") -> Applied:
    edit = _edit(op, rule, anchor)
    applied = apply(content, [edit])
    assert applied.taken == (edit,), applied.refused
    return applied


def _edit(op: str, rule: str, anchor: str) -> Edit:
    match op:
        case "add":
            return Edit(op="add", rule=rule, moment=MOMENT)
        case "replace":
            return Edit(op="replace", rule=rule, anchor=anchor, moment=MOMENT)
    return Edit(op="delete", anchor=anchor, moment=MOMENT)


def there_and_back(case: Case) -> Seen:
    """Rules added, one of them replaced, all deleted in a random order: the first bytes are back."""
    random = case.random
    before = _file(random)
    assert render(parse(before)) == before
    rules = [_rule(random, number) for number in range(random.randrange(1, 6))]
    content = before
    for rule in rules:
        content = _edited(content, "add", rule).content
        assert content.startswith(before)
    assert parse(content).rules == tuple(rules)
    place = random.randrange(len(rules))
    fresh = _rule(random, len(rules))
    content = _edited(content, "replace", fresh, rules[place]).content
    rules[place] = fresh
    assert parse(content).rules == tuple(rules)
    assert render(parse(content)) == content
    for rule in random.sample(rules, len(rules)):
        content = _edited(content, "delete", anchor=rule).content
    assert content == before
    return Counter({"edits": 2 * len(rules) + 1})


PARTS = (
    Part(
        name="edits of memory files",
        group="blocks",
        holds="each rule is read back as it was given; when all are deleted the file has its first bytes",
        cases=20_000,
        check=there_and_back,
    ),
)
