"""All parts of a soak, in the order in which they run."""

from __future__ import annotations

from soak import blocks, everywhere, fuzz, gates, hostile, kills, publishing, secrets_cut
from soak.cases import Part

PARTS: tuple[Part, ...] = (
    *kills.PARTS,
    *publishing.PARTS,
    *fuzz.PARTS,
    *hostile.PARTS,
    *secrets_cut.PARTS,
    *everywhere.PARTS,
    *gates.PARTS,
    *blocks.PARTS,
)
GROUPS = tuple(dict.fromkeys(part.group for part in PARTS))
