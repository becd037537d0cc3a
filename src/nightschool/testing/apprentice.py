"""Decides by a declared script, and (run as a program) carries the decisions out in its folder.

Standard library only, and no import of ours: the scripted runner sends the text of this file into the
sandbox, where it stands for an agent. `script.py` gives the same decisions their types.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

MEMORY = ("CLAUDE.md", "AGENTS.md", "~/.claude/CLAUDE.md", "~/.codex/AGENTS.md")
"""Where the memory of the agents lies that it stands for: in the folder, and in HOME."""
STAGES = 20
"""So many acts at most; a script that never answers is a mistake in the script."""


def choose(script: Mapping[str, Any], *, text: str, prompt: str, stage: int, seed: str) -> dict[str, Any]:
    """The act of the first rule that matches and whose lot falls, else the script's default."""
    for index, rule in enumerate(script["rules"]):
        groups = _matches(rule["when"], text, prompt)
        if groups is None:
            continue
        taken = lot(seed, script["seed"], index, prompt) < rule["probability"]
        acts = rule["then"] if taken else rule["otherwise"]
        if acts:
            act = acts[stage] if stage < len(acts) else script["default"]
            return dict(_filled(act, groups))
    return dict(script["default"])


def lot(*parts: object) -> float:
    """A number in [0, 1), the same for the same parts in every process."""
    named = "\0".join(str(part) for part in parts).encode("utf-8", "surrogatepass")
    return int(hashlib.sha256(named).hexdigest()[:13], 16) / 16**13


def _matches(when: Mapping[str, Any], text: str, prompt: str) -> dict[str, str] | None:
    folded = text.casefold()
    if not all(words.casefold() in folded for words in when["contains"]):
        return None
    if any(words.casefold() in folded for words in when["lacks"]):
        return None
    found = re.search(when["prompt"], prompt, re.IGNORECASE | re.DOTALL)
    return None if found is None else {name: value or "" for name, value in found.groupdict().items()}


def _filled(value: Any, groups: Mapping[str, str]) -> Any:
    match value:
        case str():
            return Template(value).safe_substitute(groups)
        case Mapping():
            return {key: _filled(item, groups) for key, item in value.items()}
        case list() | tuple():
            return [_filled(item, groups) for item in value]
        case _:
            return value


def memory(root: Path, home: Path, top: Path) -> str:
    """What the memory files say, the ones that are there: the person's, and those from the top down to the
    folder that it works in."""
    folders = [folder for folder in (root, *root.parents) if folder.is_relative_to(top)] or [root]
    own = [home / name[2:] for name in MEMORY if name.startswith("~/")]
    found = [*own, *(folder / name for folder in reversed(folders) for name in MEMORY if name[0] != "~")]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in found if path.is_file())


def work(order: Mapping[str, Any], root: Path, home: Path) -> dict[str, Any]:
    """Act until the script answers: the reply, and what was called."""
    text = memory(root, home, Path(order.get("top", root))) + "\n" + order["prompt"]
    calls: list[dict[str, Any]] = []
    for stage in range(STAGES):
        act = choose(order["script"], text=text, prompt=order["prompt"], stage=stage, seed=order["seed"])
        match act["kind"]:
            case "say":
                return {"reply": act["text"], "calls": calls}
            case "shell":
                calls.append(_shell(act, root))
            case "write":
                calls.append(_write(act, root))
            case kind:
                raise SystemExit(f"the apprentice has no {kind!r} act: say, shell and write are there")
    raise SystemExit(f"the script gave no answer after {STAGES} acts")


def _shell(act: Mapping[str, Any], root: Path) -> dict[str, Any]:
    done = subprocess.run(
        ["/bin/sh", "-c", act["command"]],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode("utf-8", "replace")
    return {"tool": "shell", "arguments": act, "result": output, "exit_code": done.returncode}


def _write(act: Mapping[str, Any], root: Path) -> dict[str, Any]:
    path = root / act["path"]
    if not path.resolve().is_relative_to(root.resolve()):
        raise SystemExit(f"the script writes outside of its folder: {act['path']}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(act["content"], encoding="utf-8")
    return {"tool": "write", "arguments": act, "result": "written", "exit_code": 0}


def main(arguments: Sequence[str]) -> None:
    """`apprentice.py`: the order as JSON on stdin (script, prompt, seed; `top` where it works in a folder
    of more), the work as JSON on stdout."""
    if arguments:
        raise SystemExit("the order is read from stdin; there are no arguments")
    sys.stdout.write(json.dumps(work(json.load(sys.stdin), Path.cwd(), Path.home())))


if __name__ == "__main__":
    main(sys.argv[1:])
