"""A file of tasks: what is written is read back, and what is wrong is told with its place."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate_builders import CANDIDATE, task
from nightschool.core.errors import UserError
from nightschool.core.harness import File
from nightschool.core.tasks import FilesSource, Footprint, GitSource, Task, Touched
from nightschool.rules.task_file import FORMAT, can_be_written, parsed, read, written

COMMIT = "c" * 40
signs = st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.sampled_from("\"'\\\n\r\t\x7f\x1b#]é"))
prompts = signs.filter(lambda text: text.strip() and "\0" not in text)
terms = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=30)
names = st.text(st.sampled_from("abcü-_. "), min_size=1, max_size=8).filter(
    lambda name: name not in {".", ".."} and name.strip(". ") != "" and str(PurePosixPath(name)) == name
)
checks = st.lists(
    st.builds(Footprint, wanted=terms, unwanted=st.none() | terms)
    | st.builds(Touched, paths=st.lists(names, min_size=1, max_size=3).map(tuple)),
    min_size=1,
    max_size=3,
).map(tuple)
shown = st.dictionaries(names, signs, min_size=1, max_size=3).map(
    lambda files: FilesSource(
        files=tuple(File(path=path, content=text.encode()) for path, text in sorted(files.items()))
    )
)
starts = shown | st.just(FilesSource()) | st.just(GitSource(repository="/p", commit=COMMIT))


@given(prompts, checks, starts)
def test_what_is_written_is_read_back(
    prompt: str, asked: tuple[Footprint | Touched, ...], start: FilesSource | GitSource
) -> None:
    """Sign by sign, whatever a request, a term or a file holds, and where the work begins with nothing."""
    about = ("k-0123456789",)
    one = replace(task("x"), prompt=prompt, checks=asked, workspace=start, concerns=about, folder="a/b")
    (found,) = parsed(written("/p", [one], [], {}), "f").task
    assert (found.id, found.prompt, found.check, found.split) == (one.id, prompt, asked, one.split)
    assert (found.concerns, found.folder) == (one.concerns, one.folder)
    if isinstance(start, GitSource):
        assert (found.commit, found.file) == (COMMIT, ())
    else:
        assert found.empty is not bool(start.files)
        assert {file.path: file.text.encode() for file in found.file} == {
            f.path: f.content for f in start.files
        }


@given(signs)
def test_a_persons_words_cannot_leave_their_comment(words: str) -> None:
    """What stands behind # in a written file is never read as a key."""
    text = written("/p", [_git_task()], [replace(CANDIDATE, statement=words)], {CANDIDATE.id: words})
    assert set(tomllib.loads(text)) == {"format", "project", "reviewed", "task"}


def test_a_file_as_it_is_exported_is_not_reviewed() -> None:
    """Neither the file nor any task of it; each field that says so is named."""
    file = parsed(written("/p", [_git_task(), replace(_git_task(), prompt="other")], [], {}), "f")
    assert len(file.unreviewed) == 3
    text = written("/p", [_git_task()], [], {})
    assert parsed(text.replace("reviewed = false", "reviewed = true"), "f").unreviewed == ()
    assert parsed(text.replace("reviewed = false", "reviewed = true", 1), "f").unreviewed == (
        "task 1: reviewed",
    )


def test_what_is_no_text_cannot_be_written() -> None:
    """A file of bytes, or one with a mode of its own, would not come back as it was."""
    assert can_be_written(_git_task())
    for file in (File(path="a", content=b"\xff"), File(path="a", content=b"a", mode=0o755)):
        assert not can_be_written(replace(_git_task(), workspace=FilesSource(files=(file,))))
    hidden = Footprint(wanted="a\u202eb")
    assert not can_be_written(replace(_git_task(), checks=(hidden,))), "an import would refuse it"


HEAD = 'format = "nightschool-tasks-1"\nproject = "/p"\n'
GOOD = f'prompt = "do it"\ncommit = "{COMMIT}"\n'
CHECK = '[[task.check]]\nkind = "footprint"\nwanted = "pnpm"\n'
FILE = '[[task.file]]\npath = "{}"\ntext = "x"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("format = ", "no TOML"),
        ("a = " + "[" * 100_000, "no TOML"),
        (HEAD + "task = " + "[" * 200 + "]" * 200, "task 1: "),
        ("", "format: missing"),
        ('format = "other"\nproject = "/p"', "format: input should be 'nightschool-tasks-1'"),
        (HEAD, "task: there is none"),
        (HEAD + "surprise = 1", "surprise: unknown key; known here: format, project, reviewed, task"),
        (HEAD + 'reviewed = "yes"', "reviewed: input should be a valid boolean"),
        (HEAD + "reviewed = 1", "reviewed: input should be a valid boolean"),
        (HEAD + "task = 3", "task: input should be a valid"),
        (HEAD + "[[task]]\n" + CHECK, "task 1: prompt: missing"),
        (HEAD + "[[task]]\nprompt = 2026-01-01\n" + CHECK, "task 1: prompt: input should be a valid string"),
        (
            HEAD + "[[task]]\n" + GOOD + 'cmd = "rm"\n' + CHECK,
            "task 1: cmd: unknown key; known here: reviewed, id",
        ),
        (HEAD + "[[task]]\n" + GOOD, "task 1: check: 0 of them"),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "command"\nrun = "rm -rf /"',
            "kind: must be one of",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nwanted = "a"',
            "task 1: check 1: kind: must be one of",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "footprint"',
            "check 1: give wanted, unwanted or both",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "footprint"\nwanted = 3',
            "check 1: wanted: input",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "footprint"\nwanted = "a"\npaths = []',
            "task 1: check 1: paths: unknown key; known here: kind, wanted, unwanted",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "footprint"\nwanted = "a\\nb"',
            "must be one line",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "footprint"\nwanted = "\\u202e"',
            "none of them hidden",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "touched"\npaths = ["../a"]',
            "check 1: paths: each is",
        ),
        (
            HEAD + "[[task]]\n" + GOOD + '[[task.check]]\nkind = "touched"\npaths = []',
            "check 1: paths: 0 of them",
        ),
        (HEAD + '[[task]]\nid = "t-1; rm"\n' + GOOD + CHECK, "task 1: id: no id of a task"),
        (HEAD + '[[task]]\nsplit = "train"\n' + GOOD + CHECK, "task 1: split: nightschool decides it"),
        (HEAD + '[[task]]\nid = "t-0123456789ab"\nsplit = "exam"\n' + GOOD + CHECK, "split: input should be"),
        (HEAD + '[[task]]\nprompt = " "\ncommit = "' + COMMIT + '"\n' + CHECK, "task 1: prompt: is empty"),
        (HEAD + '[[task]]\nprompt = "a\\u0000"\ncommit = "' + COMMIT + '"\n' + CHECK, "NUL"),
        (
            HEAD + '[[task]]\nprompt = "a"\ncommit = "--upload-pack=x"\n' + CHECK,
            "commit: must be a whole object id",
        ),
        (HEAD + '[[task]]\nprompt = "a"\n' + CHECK, "commit: say what the work begins with"),
        (HEAD + "[[task]]\n" + GOOD + CHECK + FILE.format("a"), "commit: say what the work begins with"),
        (HEAD + "[[task]]\n" + GOOD + 'folder = "../x"\n' + CHECK, "task 1: folder: where the work begins"),
        (HEAD + "[[task]]\n" + GOOD + 'concerns = ["use pnpm"]\n' + CHECK, "task 1: concerns: each is an id"),
        *(
            (
                HEAD + '[[task]]\nprompt = "a"\n' + CHECK + FILE.format(path),
                "task 1: file 1: path: must be relative",
            )
            for path in (
                "/etc/passwd",
                "../a",
                "a/../../b",
                "",
                ".",
                ".git/config",
                "a/.GIT/hooks/x",
                ".git. /x",
            )
        ),
        (HEAD + '[[task]]\nprompt = "a"\n' + CHECK + FILE.format("a") * 2, "a path stands there twice"),
        (
            HEAD + '[[task]]\nprompt = "a"\n' + CHECK + FILE.format("app/.env"),
            "a file of that name holds secrets",
        ),
        (
            HEAD + '[[task]]\nprompt = "a"\n' + CHECK + FILE.format("a") + FILE.format("a/b"),
            "where its folder would be",
        ),
    ],
)
def test_what_is_wrong_is_told_with_file_place_and_way_out(text: str, told: str) -> None:
    """Unknown keys, wrong types, unknown checks, paths and ids that lead elsewhere: none is taken."""
    with pytest.raises(UserError) as refused:
        parsed(text, "my.toml")
    message = str(refused.value)
    assert message.startswith("my.toml")
    assert told in message


def test_what_begins_with_nothing_says_so_and_nothing_else() -> None:
    """An empty folder is a start of its own: not beside a commit or files, and never by leaving all out."""
    task = HEAD + '[[task]]\nprompt = "a"\n{}' + CHECK
    assert parsed(task.format("empty = true\n"), "f").task[0].empty
    for lines in ("", "empty = false\n", f'empty = true\ncommit = "{COMMIT}"\n'):
        with pytest.raises(UserError, match="task 1: commit: say what the work begins with"):
            parsed(task.format(lines), "f")


def test_all_faults_of_a_file_are_found_whatever_kind_they_are_of() -> None:
    """Wrong types, and in the same task what no type says, each once and with the number of its task; what is
    right is kept in its place, so that a store can be asked of it."""
    wrong_type = f'[[task]]\nprompt = 1\ncommit = "{COMMIT}"\nconcerns = ["x"]\nkey = 2\n'
    right = "[[task]]\n" + GOOD + CHECK
    start = '[[task]]\nprompt = "b"\ncommit = 1\nfolder = "../x"\n' + CHECK
    found, wrong = read(HEAD + right + wrong_type + start + right, "f")
    told = [why.split(";")[0] for _, why in wrong]
    assert [number for number, _ in wrong] == [2, 2, 2, 2, 3, 3]
    assert sorted(told[:4]) == [
        "task 2: check: 0 of them",
        "task 2: concerns: each is an id like those at the top of an exported file (k-...)",
        "task 2: key: unknown key",
        "task 2: prompt: input should be a valid string",
    ]
    assert told[4].startswith("task 3: commit: input should be")
    assert told[5].startswith("task 3: folder: ")
    assert [(one.prompt, one.commit) for one in found.task] == [
        ("do it", COMMIT),
        ("-", COMMIT),
        ("b", None),
        ("do it", COMMIT),
    ]
    found, wrong = read("reviewed = true\nsurprise = 1\ntask = [3]", "f")
    assert {number for number, _ in wrong} == {0, 1}
    assert found.reviewed


def test_all_faults_are_told_at_once_up_to_a_few() -> None:
    """A file with a fault in each of many tasks names the first ones and counts the rest."""
    text = HEAD + "".join("[[task]]\n" + GOOD for _ in range(20))
    with pytest.raises(UserError, match="task 1: check") as refused:
        parsed(text, "f")
    assert "task 8: check" in str(refused.value)
    assert "and 12 more" in str(refused.value)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_no_text_is_more_than_refused(text: str) -> None:
    """Whatever stands in the file, the answer is a file of tasks or a fault that is told."""
    for whole in (text, HEAD + text, HEAD + "[[task]]\n" + text):
        with suppress(UserError):
            assert parsed(whole, "f").format == FORMAT


def _git_task() -> Task:
    return replace(task("x"), workspace=GitSource(repository="/p", commit=COMMIT))
