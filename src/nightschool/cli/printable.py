"""Text of models and transcripts, made fit for a terminal.

What moves the cursor, sets the title, hides text or turns its direction around is shown as an escape
(`\\x1b`), so that what a person reads is what is there.
"""

from __future__ import annotations

import codecs
import re

NARROW = "nightschool.narrow"
"""Name of the way in which streams of narrow encodings are written."""
NEAREST = {**dict(zip("▁▂▃▄▅▆▇█", "_.-:=+*#", strict=True)), "…": "...", "·": "-"}
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls of ASCII and Latin-1, but tab and newline
    "\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e"  # invisible
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, direction, lines
    "\ud800-\udfff\U000e0000-\U000e0fff]"  # no characters, and tags
)


def printable(text: str) -> str:
    """The text with all that is unfit shown as escapes. Joiners stay: emoji and some scripts need them."""
    return _UNFIT.sub(_escape, text.replace("\r\n", "\n"))


def _narrow(error: UnicodeError) -> tuple[str | bytes, int]:
    """What a stream cannot encode: signs of our own as what is nearest in ASCII, others as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    if (sign := error.object[error.start]) in NEAREST:
        return NEAREST[sign], error.start + 1
    error.end = error.start + 1
    return codecs.backslashreplace_errors(error)


codecs.register_error(NARROW, _narrow)


def one_line(text: str) -> str:
    """For a cell of a table: runs of white space are one space."""
    return printable(" ".join(text.split()))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_safe(text: str) -> str:
    """A JSON text in which the same characters stand as JSON's own escapes: the same value when parsed."""
    return _UNFIT.sub(_json_escape, text)


def ascii_json(text: str) -> str:
    """The same for a stream that may not be able to encode all of it."""
    return re.sub(r"[^\x00-\x7f]", _json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    if found[0] == "\r":
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
