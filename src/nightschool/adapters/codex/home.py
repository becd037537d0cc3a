"""Where Codex keeps what is the person's, and what their settings name that no practice has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.configuration import Configuration, managed
from nightschool.core.harness import Absent

HOME = AgentHome(variable="CODEX_HOME", usual=".codex", sessions=("sessions", "archived_sessions"))
POLICY = tuple(
    Path("/etc/codex", name) for name in ("config.toml", "managed_config.toml", "requirements.toml", "skills")
)
"""What whoever looks after the machine lays over every person's own."""
INSTRUCTIONS = ("developer_instructions", "experimental_instructions_file", "model_instructions_file")


def configured(project: Path | None, home: Path, environment: Mapping[str, str]) -> Iterator[Absent]:
    """MCP servers, hooks, plugins and instructions of the settings, by name."""
    yield from managed(POLICY)
    folders = [HOME.folder(home, environment)]
    if project is not None and project / HOME.usual != folders[0]:
        folders.append(project / HOME.usual)
    for folder in folders:
        settings, hooks = Configuration(folder / "config.toml"), Configuration(folder / "hooks.json")
        yield from settings.unread()
        yield from settings.absent("MCP server", "mcp_servers")
        yield from settings.absent("plugin", "plugins")
        yield from settings.absent("hook", "hooks")
        for key in INSTRUCTIONS:
            if settings.is_on(key):
                yield settings.one("instructions", key)
        yield from hooks.unread()
        yield from hooks.absent("hook", "hooks")
