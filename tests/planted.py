"""Secrets and names that a test plants in sessions, and the search for them in whatever came of it."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

# Put together here, so that no scanner of repositories takes them for real ones.
SECRETS: Mapping[str, str] = {
    "api key": "sk-ant-" + "api03-Zq8Xw2LmN4vB7tRy1KpD5sHf9GjC3aEu6QoW0iTbVxMnSdYk",
    "git token": "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "cloud key": "AKIA" + "Q3ZK7PLMV2XWRT5N",
    "web token": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJyYXluZXItNDQxIn0" + ".Qm9vbS1hLWxhLXdoaXp6LTk5MTcyMw",
    "password": "tr0ub4dor-Vq91xZ-horse",
    "address with password": "hunter2-Kx83mQ",
    "private key": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
}
SAID = (
    f"export ANTHROPIC_API_KEY={SECRETS['api key']}\n"
    f"git clone https://x-access-token:{SECRETS['git token']}@github.com/acme/site\n"
    f"aws_access_key_id = {SECRETS['cloud key']}\n"
    f"Authorization: Bearer {SECRETS['web token']}\n"
    f"DB_PASSWORD={SECRETS['password']}\n"
    f"postgres://app:{SECRETS['address with password']}@db.internal:5432/app\n"
    f"-----BEGIN PRIVATE KEY-----\n{SECRETS['private key']}\n-----END PRIVATE KEY-----\n"
)
"""As a terminal shows them."""

OF_MEMORY = "glpat-" + "Zx81kQmW72LpRt5VbN3c"
"""A secret that the person themselves wrote into the file that a proposal changes."""
NAMES = ("Marguerite", "Zanzibar", "build-host-17", "nighthawk")
"""A person, a project's code name, a host, a project. The first three are words of the ignore list."""
IGNORE = """
[ignore]
projects = ["nighthawk"]
words = ["marguerite", "ZANZIBAR", "build-host-17"]
"""


def plant(person: Path) -> None:
    """Put the secrets into every session of the person, where tools print and people paste; and add
    sessions that hold a name: one of each agent, and one in another project."""
    claude = sorted((person / ".claude/projects").rglob("*.jsonl"))
    codex = sorted((person / ".codex/sessions").rglob("*.jsonl"))
    _copied(claude[0], "aaaaaaaa", f"ask {NAMES[0]} about {NAMES[1]}")
    _copied(codex[0], "bbbbbbbb", f"ssh {NAMES[2]}, said {NAMES[0]}")
    other = _copied(claude[1], "cccccccc", "nothing special")
    elsewhere = other.parent.with_name(f"-home-{NAMES[3]}") / other.name
    elsewhere.parent.mkdir()
    other.rename(elsewhere)
    text = elsewhere.read_text(encoding="utf-8").replace(str(person / "ledger"), f"/home/{NAMES[3]}")
    elsewhere.write_text(text, encoding="utf-8")
    for path in (*claude, *codex):
        _rewritten(path, lambda text: f"{text}\n{SAID}")


def _copied(path: Path, own: str, words: str) -> Path:
    """Another session with the same work, whose tools print these words."""
    name = path.stem[-36:]
    copy = path.with_name(path.name.replace(name[:8], own))
    shutil.copy2(path, copy)
    copy.write_text(copy.read_text(encoding="utf-8").replace(name[:8], own), encoding="utf-8")
    _rewritten(copy, lambda text: f"{text}\n{words}")
    return copy


def _rewritten(path: Path, more: Callable[[str], str]) -> None:
    """With more text in each result of a tool and in each answer of the agent."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(_with(row, more)) + "\n" for row in rows), encoding="utf-8")


def _with(value: Any, more: Callable[[str], str]) -> Any:
    if isinstance(value, list):
        return [_with(item, more) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("type")
    told = {"tool_result": "content", "function_call_output": "output", "output_text": "text"}
    key = told.get(str(kind)) or ("text" if kind == "text" else None)
    return {
        name: more(item) if name == key and isinstance(item, str) else _with(item, more)
        for name, item in value.items()
    }


def found(content: bytes, words: Iterable[str]) -> list[str]:
    """Which of the words stand in it: in whatever case, or as base64, which JSON has for bytes."""
    small = content.lower()
    return [word for word in words if any(form in small for form in _forms(word))]


def _forms(word: str) -> list[bytes]:
    plain = word.encode()
    encoded = []
    for before in range(3):
        whole = base64.b64encode(bytes(before) + plain)
        # The ends depend on the neighbours: only what lies between them is sure.
        encoded.append(whole[(0, 2, 3)[before] + 2 : -4].lower())
    return [plain.lower(), *encoded]


def found_below(folder: Path, words: Iterable[str]) -> dict[str, list[str]]:
    """The same for the name and the bytes of each file below a folder."""
    wanted = tuple(words)
    told = {}
    for path in folder.rglob("*"):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        here = found(str(path.relative_to(folder)).encode() + b"\n" + content, wanted)
        if here:
            told[str(path.relative_to(folder))] = here
    return told
