"""A second opinion on secrets, by detect-secrets: another table than ours, asked before publishing.

Its plugins alone are used, on text in memory. Its scanner is not: that reads files, can ask providers
over the network whether a key is alive, and passes over lines that a comment in them says to allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nightschool.core.errors import UserError

PASSED_OVER = frozenset({"IPPublicDetector"})
"""An address of a machine is no secret."""
LONGEST = 2000
OVERLAP = 300
"""Its patterns backtrack: a longer line is looked at in pieces that overlap."""


class DetectSecrets:
    """A `SecondOpinion`: what in a text it takes for a secret, as (kind, the secret)."""

    def __init__(self) -> None:
        try:
            from detect_secrets.core.plugins.util import (  # noqa: PLC0415 - an extra
                get_mapping_from_secret_type_to_class,
            )
            from detect_secrets.filters import heuristic  # noqa: PLC0415
        except ImportError as error:
            raise UserError(
                "publish.second_opinion is true, and detect-secrets is not installed: "
                'pip install "nightschool[scan]", or set it to false'
            ) from error
        kinds: Any = get_mapping_from_secret_type_to_class().values()
        self._plugins = [kind() for kind in kinds if kind.__name__ not in PASSED_OVER]
        self._no_secret = (
            heuristic.is_sequential_string,
            heuristic.is_potential_uuid,
            heuristic.is_templated_secret,
            heuristic.is_not_alphanumeric_string,
        )

    def __call__(self, text: str) -> Sequence[tuple[str, str]]:
        found = {
            (secret.type, secret.secret_value)
            for piece in _pieces(text)
            for plugin in self._plugins
            for secret in self._looked(plugin, piece)
        }
        return sorted(found)

    def _looked(self, plugin: Any, piece: str) -> Iterator[Any]:
        for secret in plugin.analyze_line(filename="", line=piece, line_number=1):
            if secret.secret_value and not any(says(secret.secret_value) for says in self._no_secret):
                yield secret


def _pieces(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        for start in range(0, max(len(line) - OVERLAP, 1), LONGEST - OVERLAP):
            yield line[start : start + LONGEST]
