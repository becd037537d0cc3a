"""Tasks as a file that a person reads and edits: written, and read back to the field.

TOML, since a request is text of several lines and stands there as it is. What stands in the file is data:
paths are relative, a commit is an object id, and a check is one of the kinds that exist.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from nightschool.core.errors import UserError
from nightschool.core.harness import check_relative
from nightschool.core.tasks import Candidate, Check, FilesSource, Footprint, GitSource, Task, Touched
from nightschool.core.values import Value
from nightschool.rules.checking import idle_passes
from nightschool.rules.secret_names import holds_secrets

FORMAT = "nightschool-tasks-1"
MOST_TASKS = 1_000
MOST_PROMPT = 100_000
MOST_CHECKS = 10
MOST_TERM = 200
MOST_FILES = 500
MOST_FILE_TEXT = 5_000_000
Wrong = tuple[int, str]
"""The number of a task in its file, 0 for the file itself, and what is wrong with it, its place included."""
WHOLE = ""
"""In the place of a field: all of them."""
STARTS = frozenset({"commit", "file", "empty"})
"""Fields that say what the work begins with."""
SKETCH = "-"
"""In the place of a request that is none."""
TOLD = 8
"""Faults of a file that are told at once."""

TASK_ID = re.compile(r"t-[0-9a-f]{12}\Z")
CANDIDATE_ID = re.compile(r"k-[0-9a-f]{10}\Z")
COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_HIDDEN = r"[\x00-\x08\x0b-\x1f\x7f]"
_ESCAPED = re.compile(_HIDDEN + r'|\\|"(?="|\Z)')
"""What cannot stand as it is between three double quotes: all that does not show, and quotes that end it."""
_NOT_LITERAL = re.compile(_HIDDEN + r"|'''|'\Z")
"""What cannot stand between three single quotes, where nothing is escaped."""
CHECKS: Mapping[str, type[Value]] = {"footprint": Footprint, "touched": Touched}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile(Value):
    """A file of the folder that a task begins with."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTask(Value):
    """A task as it stands in a file. `id` and `split` are nightschool's own: for a new task they are left
    out, and of one that is known they are not changed."""

    reviewed: bool = False
    id: str | None = None
    split: Literal["train", "holdout"] | None = None
    prompt: str
    commit: str | None = None
    empty: bool = False
    """The work begins with an empty folder: all its files were made in it."""
    folder: str = ""
    concerns: tuple[str, ...] = ()
    check: tuple[Annotated[Check, Field(discriminator="kind")], ...] = ()
    file: tuple[ShownFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile(Value):
    """A file of tasks."""

    format: Literal["nightschool-tasks-1"]
    project: str
    reviewed: bool = False
    task: tuple[WrittenTask, ...] = ()

    @property
    def unreviewed(self) -> tuple[str, ...]:
        """The fields that say that nobody has reviewed it yet."""
        whole = () if self.reviewed else ("reviewed (at the top of the file)",)
        parts = (f"task {n}: reviewed" for n, one in enumerate(self.task, start=1) if not one.reviewed)
        return (*whole, *parts)


_FILE = TypeAdapter(TaskFile)
_KINDS: Mapping[str, type[Any]] = {"task": WrittenTask, "file": ShownFile, **CHECKS}


def parsed(text: str, where: str) -> TaskFile:
    """The file that a text is, every field as it must be. Raises `UserError` with all that is wrong."""
    found, wrong = read(text, where)
    if wrong:
        raise UserError(faults(where, [why for _, why in wrong]))
    return found


def read(text: str, where: str) -> tuple[TaskFile, list[Wrong]]:
    """A file without what is wrong in it, and all that is: so that what a store has to say of the rest is
    told with that. Raises `UserError` where it is no TOML at all."""
    try:
        # As JSON: a list of TOML is then as good as a tuple, and all else is strict. What TOML has and JSON
        # has not (a date) stays a fault of its own field.
        document = json.loads(json.dumps(tomllib.loads(text), default=lambda value: {"toml": str(value)}))
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is one
        raise UserError(f"{where}: no TOML: {error}; mend that line") from None
    wrong: list[Wrong] = []
    bad: defaultdict[int, set[str]] = defaultdict(set)
    try:
        found = _FILE.validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            number, field = _spot(one["loc"])
            wrong.append((number, _fault(one)))
            bad[number].add(field)
        found = _FILE.validate_json(json.dumps(_sketch(document, bad)), strict=True)
    else:
        wrong += _wrong_head(found)
    for number, task in enumerate(found.task, start=1):
        for field, why in _wrong(task):
            if not bad[number] & {field, WHOLE} and not (field == "commit" and bad[number] & STARTS):
                wrong.append((number, f"task {number}: {why}"))
                bad[number].add(field)
    tasks = tuple(_without(one, bad[number]) for number, one in enumerate(found.task, start=1))
    return replace(found, task=tasks), sorted(wrong, key=lambda one: one[0])


def _spot(place: Sequence[object]) -> tuple[int, str]:
    """The task that a fault is in, from 1 (0: none, but the file), and the field of it."""
    if len(place) > 1 and place[0] == "task" and isinstance(place[1], int):
        return place[1] + 1, str(place[2]) if len(place) > 2 else WHOLE
    return 0, str(place[0]) if place else WHOLE


def _sketch(document: Mapping[str, Any], bad: Mapping[int, set[str]]) -> dict[str, object]:
    """A file without the fields that are of a wrong type."""
    head = {key: value for key, value in document.items() if key not in bad.get(0, ()) and key != "task"}
    tasks = document.get("task") if "task" not in bad.get(0, ()) else None
    return {
        "project": "",
        **head,
        "format": FORMAT,
        "task": [
            {"prompt": SKETCH}
            if WHOLE in (fields := bad.get(number, set()))
            else {"prompt": SKETCH, **{key: value for key, value in one.items() if key not in fields}}
            for number, one in enumerate(tasks or (), start=1)
        ],
    }


def _without(one: WrittenTask, bad: set[str]) -> WrittenTask:
    bare: dict[str, Any] = {field.name: field.default for field in fields(one)} | {"prompt": SKETCH}
    return replace(one, **{name: value for name, value in bare.items() if name in bad})


def faults(where: str, wrong: Sequence[str]) -> str:
    """What is wrong with a file, as one message: up to a few, each with its place."""
    more = f"\n  and {len(wrong) - TOLD} more" if len(wrong) > TOLD else ""
    return (
        f"{where} was not taken, and nothing was stored:"
        + "".join(f"\n  {one}" for one in wrong[:TOLD])
        + more
    )


def _fault(error: Any) -> str:
    """One fault in plain words. The value is not repeated: it may be long, or a secret."""
    place = [part for part in error["loc"] if part not in CHECKS]
    path = ": ".join(_steps(place))
    kind = error["type"]
    if kind in {"unexpected_keyword_argument", "extra_forbidden"}:
        inner = next(
            (_KINDS[str(part)] for part in reversed(error["loc"][:-1]) if str(part) in _KINDS), TaskFile
        )
        known = ", ".join(field.name for field in fields(inner))
        return f"{path}: unknown key; known here: {known}"
    if kind == "missing":
        return f"{path}: missing; add it"
    if kind.startswith("union_tag"):
        return f"{path}: kind: must be one of {', '.join(map(repr, CHECKS))}"
    return f"{path or 'the file'}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _steps(place: Sequence[object]) -> Iterator[str]:
    """`task 3`, `check 1`, `wanted`, of a place like ("task", 2, "check", 0, "wanted")."""
    for index, part in enumerate(place):
        if isinstance(part, int):
            continue
        behind = place[index + 1] if index + 1 < len(place) else None
        yield f"{part} {behind + 1}" if isinstance(behind, int) else str(part)


def _wrong_head(file: TaskFile) -> Iterator[Wrong]:
    """What no type says of the file itself."""
    if not file.task:
        yield 0, "task: there is none; each begins with a line [[task]]"
    if len(file.task) > MOST_TASKS:
        yield 0, f"task: {len(file.task)} of them, at most {MOST_TASKS}; part the file"


def _wrong(one: WrittenTask) -> Iterator[tuple[str, str]]:
    """What no type says of a task, each with its field: the first word of what is said."""
    for why in (*_wrong_task(one), *_wrong_checks(one.check), *_wrong_files(one.file)):
        yield why.partition(":")[0].partition(" ")[0], why


def _wrong_task(one: WrittenTask) -> Iterator[str]:
    looked_at = (
        (one.id is not None and not TASK_ID.match(one.id), "id: no id of a task; leave it out for a new one"),
        (
            one.id is None and one.split is not None,
            "split: nightschool decides it for a new task; leave the line out",
        ),
        (not one.prompt.strip(), "prompt: is empty; say what is to be done"),
        (len(one.prompt) > MOST_PROMPT, f"prompt: {len(one.prompt)} characters, at most {MOST_PROMPT}"),
        ("\0" in one.prompt, "prompt: holds a NUL character; take it out"),
        (
            one.commit is not None and not COMMIT.match(one.commit),
            "commit: must be a whole object id; `git rev-parse HEAD` prints one",
        ),
        (
            (one.commit is not None) + bool(one.file) + one.empty != 1,
            "commit: say what the work begins with: either a commit, or [[task.file]] with path and text, or "
            "empty = true for an empty folder",
        ),
        (
            bool(one.folder) and not _inside(one.folder),
            "folder: where the work begins is relative to the project, without .. and outside of .git",
        ),
        (
            not all(CANDIDATE_ID.match(name) for name in one.concerns),
            "concerns: each is an id like those at the top of an exported file (k-...)",
        ),
    )
    yield from (text for wrong, text in looked_at if wrong)


def _wrong_checks(checks: Sequence[Check]) -> Iterator[str]:
    if not 1 <= len(checks) <= MOST_CHECKS:
        yield f"check: {len(checks)} of them; give 1 to {MOST_CHECKS} as [[task.check]]"
    fit = bool(checks)
    for number, check in enumerate(checks, start=1):
        for text in _wrong_terms(check) if isinstance(check, Footprint) else _wrong_paths(check.paths):
            fit = False
            yield f"check {number}: {text}"
    if fit and idle_passes(checks):
        yield "check: whoever does nothing would pass; ask for something that is wanted, or for a file"


def _wrong_terms(check: Footprint) -> Iterator[str]:
    terms = {"wanted": check.wanted, "unwanted": check.unwanted}
    if set(terms.values()) == {None}:
        yield "give wanted, unwanted or both"
    for name, term in terms.items():
        if term is not None and (not term.strip() or len(term) > MOST_TERM or not term.isprintable()):
            yield f"{name}: must be one line of 1 to {MOST_TERM} characters, none of them hidden"


def _wrong_paths(paths: Sequence[str]) -> Iterator[str]:
    if not 1 <= len(paths) <= MOST_FILES:
        yield f"paths: {len(paths)} of them; give 1 to {MOST_FILES}"
    for path in paths:
        if not _inside(path):
            yield "paths: each is relative to the project, without .. and outside of .git"


def _wrong_files(shown: Sequence[ShownFile]) -> Iterator[str]:
    if len(shown) > MOST_FILES or sum(len(file.text) for file in shown) > MOST_FILE_TEXT:
        yield f"file: at most {MOST_FILES} of them, and {MOST_FILE_TEXT} characters in all"
    paths = {file.path for file in shown}
    if len(paths) < len(shown):
        yield "file: a path stands there twice"
    for number, file in enumerate(shown, start=1):
        if not _inside(file.path):
            yield f"file {number}: path: must be relative to the project, without .. and outside of .git"
        elif holds_secrets(file.path):
            yield f"file {number}: path: a file of that name holds secrets; rename it, or leave it out"
        elif any(
            "/".join(file.path.split("/")[:depth]) in paths for depth in range(1, file.path.count("/") + 1)
        ):
            yield f"file {number}: path: another file of the task stands where its folder would be"


def _inside(path: str) -> bool:
    try:
        check_relative(path)
    except ValueError:
        return False
    # What a workspace's own git would read is not for a file to say, under no spelling of its name.
    parts = [part.rstrip(". ").casefold() for part in path.split("/")]
    return path.isprintable() and ".git" not in parts and path != "."


# Writing ------------------------------------------------------------------------------------------


def written(
    project: str, tasks: Iterable[Task], candidates: Sequence[Candidate], said: Mapping[str, str]
) -> str:
    """The text of a file of these tasks. `said`: a person's words by the id of a candidate."""
    about = [f"#   {one.id}  {_one_line(said.get(one.id, one.statement))}" for one in candidates]
    head = [
        "# Tasks of nightschool, to be read and edited by a person. How to, with each key:",
        "#   nightschool tasks import --help",
        "#",
        "# Read each task. Where it is as you would ask for it and judge it, set its reviewed to true; then",
        "# the one below. No agent that costs anything works on a file that is not reviewed.",
        *(["#", "# Corrections that a task may concern:", *about] if about else []),
        "",
        f"format = {_quoted(FORMAT)}",
        f"project = {_quoted(project)}",
        "reviewed = false",
    ]
    return "\n".join([*head, *(line for task in tasks for line in _task(task, said))]) + "\n"


def can_be_written(task: Task) -> bool:
    """Whether a file can hold it: what it begins with is text, and all of it is what may be read back."""
    if isinstance(task.workspace, FilesSource) and any(
        _text_of(file.content) is None or file.mode != 0o644 for file in task.workspace.files
    ):
        return False
    return not read(written(task.project or ".", [task], (), {}), "")[1]


def _task(task: Task, said: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield ""
    yield "[[task]]"
    yield "reviewed = false"
    yield f"id = {_quoted(task.id)}  # leave it: it tells which task this is"
    yield f'split = {_quoted(task.split)}  # leave it: "train" to practise on, "holdout" for the exam'
    yield f"prompt = {_several_lines(task.prompt)}"
    if isinstance(task.workspace, GitSource):
        yield f"commit = {_quoted(task.workspace.commit)}"
    elif not task.workspace.files:
        yield "empty = true  # it begins with an empty folder"
    if task.folder:
        yield f"folder = {_quoted(task.folder)}"
    words = "; ".join(_one_line(said[name]) for name in task.concerns if name in said)
    yield f"concerns = {_list(task.concerns)}" + (f"  # {words}" if words else "")
    for check in task.checks:
        yield ""
        yield "[[task.check]]"
        yield f"kind = {_quoted(check.kind)}"
        match check:
            case Footprint():
                terms = {"wanted": check.wanted, "unwanted": check.unwanted}
                yield from (f"{name} = {_quoted(term)}" for name, term in terms.items() if term is not None)
            case Touched():
                yield f"paths = {_list(check.paths)}"
    if isinstance(task.workspace, FilesSource):
        for file in task.workspace.files:
            yield ""
            yield "[[task.file]]"
            yield f"path = {_quoted(file.path)}"
            yield f"text = {_several_lines(_text_of(file.content) or '')}"


def _text_of(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _quoted(text: str) -> str:
    """A string of one line. JSON's escapes are TOML's; DEL alone has to be escaped there too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _several_lines(text: str) -> str:
    """A string with its lines as they are, without any escape where that can be."""
    if _ESCAPED.search(text) and not _NOT_LITERAL.search(text):
        return f"'''\n{text}'''"
    return f'"""\n{_ESCAPED.sub(lambda found: _escaped(found.group()), text)}"""'


def _escaped(sign: str) -> str:
    return f"\\{sign}" if sign in {"\\", '"'} else f"\\u{ord(sign):04x}"


def _one_line(text: str) -> str:
    """Words for a comment, in which nothing may end the line."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
