"""Whether a file says already what a correction asks for."""

from __future__ import annotations

import pytest

from nightschool.core.tasks import Footprint, Touched
from nightschool.rules.memory_block import BEGIN, END
from nightschool.rules.written import says_already

CHECK = Footprint(wanted="pathlib", unwanted="os.path")
LINE = "Always use pathlib, never os.path."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"# Rules\n\n  - {LINE}\n", f"- {LINE}"),
        ("Use pathlib.\nNever os.path.\n", None),
        ("Use pathlibs, never os.path.\n", None),
        (f"{BEGIN}\n- {LINE}\n{END}\n", None),
        (f"{BEGIN}\n- {LINE}\n{END}\nPATHLIB, not os.path!\n", "PATHLIB, not os.path!"),
        ("", None),
    ],
)
def test_one_line_of_the_persons_own_names_both(content: str, said: str | None) -> None:
    """What is wanted and what is not stand in one line, as whole words, outside of our own block."""
    assert says_already(content.encode(), CHECK) == said


def test_nothing_is_guessed() -> None:
    """No file, bytes that are no text, or a check that names one side only: nothing is said of it."""
    assert says_already(None, CHECK) is None
    assert says_already(b"\xff\xfe", CHECK) is None
    assert says_already(LINE.encode(), Footprint(wanted="pathlib")) is None
    assert says_already(LINE.encode(), Touched(paths=("pathlib",))) is None
