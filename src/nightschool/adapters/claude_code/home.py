"""Where Claude Code keeps what is the person's, and what their settings name that no practice has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.configuration import Configuration, managed
from nightschool.adapters.harness_files import is_there
from nightschool.core.harness import Absent
from nightschool.core.retention import Retention

HOME = AgentHome(variable="CLAUDE_CONFIG_DIR", usual=".claude", sessions=("projects",))
NOT_IN_A_FOLDER = re.compile(r"[^A-Za-z0-9]")
"""Becomes a hyphen in the name of a project's folder of sessions."""
MEMORY_ABOVE = ("CLAUDE.md", "CLAUDE.local.md")
"""Read in the folders above a project too, of which a workspace has none."""


MANAGED = Path("/etc/claude-code/managed-settings.json")
"""What an organisation decides for all of a machine."""
KEPT_DAYS = "cleanupPeriodDays"
DEFAULT_DAYS = 30
POLICY = tuple(
    Path(folder, name)
    for folder in ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
    for name in ("CLAUDE.md", "managed-settings.json", "managed-mcp.json", "managed-settings.d", ".claude")
)
"""What whoever looks after the machine lays over every person's own."""
APPROVED = "hasClaudeMdExternalIncludesApproved"
"""Of a project: whether the person said yes when asked if its memory may import what lies outside."""


def state_file(home: Path, environment: Mapping[str, str]) -> Path:
    """In HOME beside the folder, and in it where it was moved."""
    return (HOME.folder(home, environment) if environment.get(HOME.variable) else home) / ".claude.json"


def imports_from_outside(project: Path, home: Path, environment: Mapping[str, str]) -> bool:
    """Whether the project's memory may import files of HOME: else Claude Code passes over them."""
    return Configuration(state_file(home, environment)).is_on("projects", str(project), APPROVED)


def configured(project: Path | None, home: Path, environment: Mapping[str, str]) -> Iterator[Absent]:
    """MCP servers, hooks, plugins and output styles, by name."""
    folder = HOME.folder(home, environment)
    state = Configuration(state_file(home, environment))
    yield from state.unread()
    yield from state.absent("MCP server", "mcpServers")
    yield from _settings(Configuration(folder / "settings.json"), placed=False)
    yield from managed(POLICY)
    if project is None:
        return
    yield from state.absent("MCP server", "projects", str(project), "mcpServers")
    servers = Configuration(project / ".mcp.json")
    yield from servers.unread()
    yield from servers.absent("MCP server", "mcpServers")
    # The project's settings are placed, and with them its hooks; what they switch on is not installed.
    yield from _settings(Configuration(project / ".claude/settings.json"), placed=True)
    yield from _settings(Configuration(project / ".claude/settings.local.json"), placed=False)
    own = folder / "projects" / NOT_IN_A_FOLDER.sub("-", str(project)) / "memory/MEMORY.md"
    if is_there(own):
        yield Absent(kind="memory that the agent keeps itself", name=own.name, place=str(own))
    for above in project.parents:
        for name in MEMORY_ABOVE:
            if is_there(above / name):
                yield Absent(kind="memory above the project", name=name, place=str(above / name))


def retention(home: Path, environment: Mapping[str, str], managed: Path = MANAGED) -> Retention:
    """When transcripts are removed: by the organisation's word, the person's, or the default."""
    own = HOME.folder(home, environment) / "settings.json"
    setting = f'"{KEPT_DAYS}" in {own}'
    for file in (managed, own):
        settings = Configuration(file)
        days = settings.count(KEPT_DAYS)
        if days is not None or not settings.is_read:
            return Retention(days=days, place=str(file), setting=setting)
    return Retention(days=DEFAULT_DAYS, place="its default", setting=setting)


def _settings(settings: Configuration, *, placed: bool) -> Iterator[Absent]:
    yield from settings.unread()
    yield from settings.absent("plugin", "enabledPlugins")
    if placed:
        return
    yield from settings.absent("hook", "hooks")
    if settings.is_on("outputStyle"):
        yield settings.one("output style", "outputStyle")
