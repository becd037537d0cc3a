"""The agents whose sessions are recorded."""

from __future__ import annotations

from agents.recording.claude_code import CLAUDE_CODE
from agents.recording.codex import CODEX
from agents.recording.copilot import COPILOT
from agents.recording.gemini import GEMINI
from agents.recording.hands import Hands
from agents.recording.opencode import OPENCODE
from agents.recording.pi import PI

HANDS: dict[str, Hands] = {
    hands.source: hands for hands in (CLAUDE_CODE, CODEX, COPILOT, GEMINI, OPENCODE, PI)
}
