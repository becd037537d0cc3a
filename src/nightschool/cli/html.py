"""A page as one HTML file that needs nothing else: no script, no font, no picture, no other host.

Every text is cleaned and escaped on its way (`rules/markup`); what a browser may load is nothing at all, by
a policy in the file itself, so that even a hole in this would not carry a script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence

from nightschool.cli.pages import EMPTY, Clean, Page, Section, cell
from nightschool.cli.render import Diff, Line, Piece, Table
from nightschool.cli.verdicts import Curve
from nightschool.rules.curves import STYLE as CURVES
from nightschool.rules.curves import curve
from nightschool.rules.markup import Markup, tag

LIGHT = (
    "--paper:#fff;--text:#1b1f24;--quiet:#5c6670;--rule:#d5d9de;--shade:#f5f7f9;--link:#0b62c4;"
    "--green:#116329;--red:#a40e26;--yellow:#7a4d00;--added:#e6f6ea;--removed:#fdebec"
)
DARK = (
    "--paper:#14171b;--text:#e6e9ed;--quiet:#9aa4ae;--rule:#3a414a;--shade:#1d2228;--link:#6cb0ff;"
    "--green:#6fdd8b;--red:#ff8f88;--yellow:#e3b341;--added:#12301b;--removed:#3c1618"
)
STYLE = (
    f":root{{color-scheme:light dark;{LIGHT}}}"
    f"@media(prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    "body{margin:0 auto;padding:1.5rem;max-width:60rem;background:var(--paper);color:var(--text);"
    "font:16px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.7rem;margin:0}h2{font-size:1.3rem;margin:2.5rem 0 .75rem;padding-top:.75rem;"
    "border-top:1px solid var(--rule)}h3{font-size:1rem;margin:1.25rem 0 .25rem}"
    "h1,h2,h3,p,td,th{overflow-wrap:anywhere}"
    "p{margin:.2rem 0;white-space:pre-wrap}.lead,.dim,caption{color:var(--quiet)}.dim{font-size:.875rem}"
    ".green{color:var(--green)}.red{color:var(--red)}.yellow{color:var(--yellow)}"
    ".wide{overflow-x:auto;margin:.75rem 0}"
    "table{border-collapse:collapse;width:100%;font-size:.875rem}caption{text-align:left;padding:.25rem 0}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem 1rem .3rem 0;min-width:4rem;"
    "border-bottom:1px solid var(--rule)}"
    "th{color:var(--quiet);font-weight:600;overflow-wrap:normal}.number{text-align:right}.whole{white-space:nowrap}"
    ".in1{padding-left:1rem}.in2{padding-left:2rem}.in3{padding-left:3rem}"
    "pre{margin:.75rem 0;padding:.75rem;background:var(--shade);border-radius:6px;overflow-x:auto;"
    "font:13px/1.45 ui-monospace,monospace}"
    "pre span{display:block;min-height:1.45em}"
    ".added{background:var(--added)}.removed{background:var(--removed)}"
    # On a narrow screen a row is a list of its cells, each with its heading: nothing is cut off.
    "@media screen and (max-width:40rem){table,caption,tbody,tr,td{display:block}thead{display:none}"
    "tr{padding:.4rem 0;border-bottom:1px solid var(--rule)}td{border:0;padding:.1rem 0}"
    "td::before{content:attr(data-head) ': ';color:var(--quiet)}.number{text-align:left}"
    ".whole{white-space:normal}}"
    f".curve{{display:block;width:100%;max-width:45rem;height:auto;margin:.75rem 0}}{CURVES}"
    # Paper is white whatever the screen is.
    f"@media print{{:root{{color-scheme:light;{LIGHT}}}body{{max-width:none;padding:0;font-size:11pt}}"
    "pre{white-space:pre-wrap}.wide{overflow:visible}tr,pre,svg{break-inside:avoid}"
    "h2,h3,caption{break-after:avoid}.added,.removed,pre{print-color-adjust:exact}}"
)
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)


DEEPEST = 3
"""So many steps in has the style."""
WHOLE = 24


def html(page: Page, clean: Clean) -> str:
    """The whole file."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", clean(page.title)),
        tag("style", Markup(STYLE)),
    )
    body = tag(
        "body",
        tag(
            "header",
            tag("h1", clean(page.title), dir="auto"),
            tag("p", clean(page.lead), class_="lead", dir="auto"),
        ),
        tag("main", *(_section(section, clean) for section in page.sections)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en').text}\n"


def _section(section: Section, clean: Clean) -> Markup:
    pieces = (_piece(piece, clean) for piece in section.pieces if piece not in EMPTY)
    return tag("section", tag("h2", clean(section.title), dir="auto"), *pieces)


def _piece(piece: Piece | str, clean: Clean) -> Markup:
    match piece:
        case Table():
            return tag("div", _table(piece, clean), class_="wide")
        case Diff():
            return tag("pre", *_diff(clean(piece.text)), dir="ltr")
        case Curve():
            return curve(piece.path, needed=piece.needed)
        case Line(tone="bold"):
            return tag("h3", clean(piece.text), dir="auto")
        case Line():
            return _line(clean(piece.text), piece.tone)
    return _line(clean(piece if isinstance(piece, str) else piece.plain()))


def _line(text: str, tone: str = "") -> Markup:
    """A paragraph that keeps its indentation where it folds."""
    told = text.lstrip(" ")
    deep = min((len(text) - len(told) + 1) // 2, DEEPEST)
    return tag(
        "p", told, class_=" ".join([*([tone] if tone else []), *([f"in{deep}"] if deep else [])]), dir="auto"
    )


def _table(table: Table, clean: Clean) -> Markup:
    right = ["number" if at_right else "" for at_right in table.right()]
    caption = [tag("caption", clean(table.title))] if table.title else []
    heads = (
        tag("th", name, scope="col", class_=kind) for name, kind in zip(table.columns, right, strict=True)
    )
    rows = (tag("tr", *_cells(row, table.columns, right, clean)) for row in table.rows)
    return tag("table", *caption, tag("thead", tag("tr", *heads)), tag("tbody", *rows))


def _cells(row: Iterable[object], heads: Sequence[str], right: list[str], clean: Clean) -> Iterator[Markup]:
    for value, head, kind in zip(row, heads, right, strict=True):
        text = cell(value, clean)
        # An id or a number is not cut in two; a path may well be.
        whole = "whole" if len(text) <= WHOLE and " " not in text else ""
        yield tag("td", text, class_=kind or whole, dir="auto", data_head=head)


def _diff(text: str) -> Iterator[Markup]:
    for line in text.rstrip("\n").split("\n"):
        kind = {"+": "added", "-": "removed", "@": "dim"}.get(line[:1], "")
        yield tag("span", line, class_="" if line.startswith(("+++", "---")) else kind)
