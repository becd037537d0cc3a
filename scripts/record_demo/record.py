"""Records the demo's sessions with the real terminal interfaces of Claude Code and Codex.

    python -m scripts.record_demo.record --agents tests/agents/node_modules

The model is scripted (`sessions.toml`), the tools really run, in a git repository of the demo's project
that each session begins anew. Afterwards vendors' texts are cut and each session is moved in time as one
piece to its day in `sessions.toml` (see `cut.py`). Needs Linux, bubblewrap, tmux and the two agents as
`npm ci` in tests/agents gives them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from nightschool.adapters.bubblewrap_binary import candidates, working
from nightschool.testing.demo import repository
from nightschool.testing.model_server import ModelServer
from scripts.record_demo import agents, cut
from scripts.record_demo.sessions import DEMO, Exchange, Recording, recordings
from scripts.record_demo.terminal import Terminal, enclosed


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--agents", type=Path, required=True, help="node_modules with both agents")
    parser.add_argument("--raw", type=Path, help="also keep the transcripts as they were written")
    parser.add_argument("names", nargs="*", help="only these sessions")
    chosen = parser.parse_args(arguments)
    if not chosen.names:
        shutil.rmtree(DEMO / "transcripts", ignore_errors=True)
    for recording in recordings():
        if chosen.names and recording.name not in chosen.names:
            continue
        name, text = record(recording, chosen.agents.resolve())
        if chosen.raw is not None:
            (chosen.raw / f"{recording.name}.jsonl").write_text(text, encoding="utf-8")
        written = cut.cut(text, recording.agent, recording.at)
        cut.refuse_traces(written)
        folder = DEMO / "transcripts" / recording.agent
        folder.mkdir(parents=True, exist_ok=True)
        (folder / cut.file_name(name, recording)).write_text(written, encoding="utf-8")
        sys.stderr.write(f"{recording.name}: {len(written.encode()) / 1000:.0f} kB\n")


def record(recording: Recording, modules: Path) -> tuple[str, str]:
    """Drive one session; the transcript's file name and its text."""
    with (
        tempfile.TemporaryDirectory(prefix="recording-") as scratch,
        ModelServer(recording.script()) as model,
    ):
        home = Path(scratch)
        repository(home / "ledger")
        setup = (agents.codex if recording.agent == "codex" else agents.claude_code)(home, model.url)
        bwrap = working([*candidates()], ["--ro-bind", "/", "/", "true"])
        environment = {
            "HOME": "/home/sam",
            "USER": "sam",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            **setup.environment,
        }
        argv = [*enclosed(bwrap, home, modules, environment), *setup.argv]
        with Terminal(recording.name, argv) as terminal:
            terminal.wait(lambda: setup.ready in terminal.screen(), f"the prompt of {setup.name}")
            time.sleep(1)
            for exchange in recording.exchanges:
                _exchange(terminal, home, setup, exchange)
            terminal.type("/exit")
            time.sleep(1.5)
        (path,) = home.glob(setup.transcripts)
        return path.name, path.read_text(encoding="utf-8")


def _exchange(terminal: Terminal, home: Path, setup: agents.Setup, exchange: Exchange) -> None:
    before = _transcript(home, setup)
    terminal.type(exchange.words)
    if exchange.stop_at:
        terminal.wait(lambda: exchange.stop_at in terminal.screen(), exchange.stop_at)
        time.sleep(1)
        terminal.press("Escape")
        ended = "[Request interrupted by user"
    else:
        ended = json.dumps(exchange.reply, ensure_ascii=False)
    terminal.wait(
        lambda: ended in _transcript(home, setup)[len(before) :], f"{ended} in the transcript of {setup.name}"
    )
    time.sleep(1.5)


def _transcript(home: Path, setup: agents.Setup) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in home.glob(setup.transcripts))


if __name__ == "__main__":
    main(sys.argv[1:])
