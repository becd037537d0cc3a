"""What a session shows of its own work and of its start."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conversations import agent, bash, edit, human, read, session, write
from nightschool.core.sessions import CallStatus, ToolCall
from nightschool.rules.footprints import left_behind
from nightschool.rules.recorded import edited_in_place, outcome_of, place, same_text, shown_at_start

APP = "/home/me/app"
PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-import os.path
+import pathlib
*** Add File: src/new.py
+value = 1
*** End Patch"""


@pytest.mark.parametrize(
    ("path", "directory", "found"),
    [
        ("/home/me/app/src/a.py", APP, "src/a.py"),
        ("src/a.py", APP, "src/a.py"),
        ("a.py", f"{APP}/src", "src/a.py"),
        ("../b.py", f"{APP}/src", "b.py"),
        ("../../../etc/passwd", f"{APP}/src", None),
        ("/etc/passwd", APP, None),
        ("/home/me/app2/a.py", APP, None),
        ("/home/me/app-wt/src/a.py", "/home/me/app-wt", "src/a.py"),
        ("", APP, None),
        ("a\0b", APP, None),
        ("C:\\a.py", APP, None),
        (".git/config", APP, None),
        (f"{APP}/lib/.GIT/hooks/post-checkout", APP, None),
        ("n" * 256, APP, None),
        ("a.py", "../..", None),
        ("../a.py", "../..", None),
        ("a.py", "https://example.org/app", None),
    ],
)
def test_paths_are_relative_to_the_project(path: str, directory: str, found: str | None) -> None:
    """A path that a transcript names is placed below the project's root, or nowhere."""
    assert place(path, directory=directory, root=APP) == found


def test_the_root_of_all_folders_is_a_project_too() -> None:
    """A session may run in `/`; one whose folder is no absolute path has no files."""
    assert place("a/b.py", directory="/", root="/") == "a/b.py"
    assert place("/a/b.py", directory="/a", root="/") == "a/b.py"
    assert place("a.py", directory="..", root="..") is None


def test_a_number_without_end_is_no_line_number() -> None:
    """A listing whose numbers have more digits than Python turns into one shows no file."""
    listing = f"     1\tx\n{'9' * 5000}\ty"
    call = replace(read("a.py", ""), result=listing)
    shown = session("odd", human("do it"), agent("", call))
    assert shown_at_start(shown, directory=APP, root=APP) == {}


def test_added_text_is_what_was_not_there_before() -> None:
    """Of an edit only the new lines count, of a write all, of a failed or refused call nothing."""
    failed = ToolCall(
        call_id="f", name="Write", arguments='{"content": "bad"}', files=("f.py",), status=CallStatus.ERROR
    )
    turns = (
        agent(
            "",
            edit(f"{APP}/a.py", "keep\nold", "keep\nnew"),
            write(f"{APP}/b.py", "all"),
            bash("rm x", status=CallStatus.REFUSED),
            failed,
        ),
    )
    outcome = outcome_of(turns, directory=APP, root=APP)
    assert [(change.path, change.added) for change in outcome.files] == [("a.py", "new"), ("b.py", "all")]
    assert left_behind(outcome) == "new\nall"


@pytest.mark.parametrize(
    "call",
    [
        ToolCall(call_id="1", name="apply_patch", arguments=PATCH, files=("src/a.py", "src/new.py")),
        ToolCall(
            call_id="2", name="x", arguments=json.dumps({"input": PATCH}), files=("src/a.py", "src/new.py")
        ),
        ToolCall(
            call_id="3",
            name="shell",
            arguments="{}",
            command=f"apply_patch <<'EOF'\n{PATCH}\nEOF",
            files=("src/a.py", "src/new.py"),
        ),
    ],
)
def test_patches_are_read_wherever_they_stand(call: ToolCall) -> None:
    """Codex patches, bare, in JSON or in a command: added lines count, removed ones do not."""
    turns = (agent("", call),)
    text = left_behind(outcome_of(turns, directory=APP, root=APP))
    assert "import pathlib" in text
    assert "os.path" not in text
    assert edited_in_place(turns, directory=APP, root=APP) == {"src/a.py"}


def test_files_shown_in_full_before_the_first_edit() -> None:
    """Numbered listings from line 1, and a plain `cat`; not a part of one, nor a later one."""
    part = ToolCall(
        call_id="p",
        name="Read",
        arguments=json.dumps({"file_path": f"{APP}/part.py", "offset": 10}),
        result="    10\u2192x",
        status=CallStatus.OK,
    )
    cut = ToolCall(
        call_id="c",
        name="Read",
        arguments=json.dumps({"file_path": f"{APP}/cut.py"}),
        result="     1\u2192x\n[cut: 900 characters]",
        status=CallStatus.OK,
    )
    one = session(
        "s",
        human("Do it"),
        agent("", read(f"{APP}/a.py", "one\ntwo"), part, cut, bash("cat b.py", result="three\n")),
        agent(
            "",
            bash("cat b.py | head", result="no"),
            edit(f"{APP}/a.py", "one", "1"),
            read(f"{APP}/late.py", "x"),
        ),
    )
    shown = shown_at_start(one, directory=APP, root=APP)
    assert shown == {"a.py": "one\ntwo\n", "b.py": "three\n"}


def test_redacted_lines_are_not_compared() -> None:
    """A stand-in for a secret differs from the committed line and says nothing of a dirty tree."""
    assert same_text("a\nkey = [secret:token:abc123]\n", b"a\nkey = hunter2\n")
    assert not same_text("a\nb\n", b"a\nc\n")
    assert not same_text("a\n", b"a\nb\n")


def test_a_file_that_the_session_made_was_not_there_before() -> None:
    """An edit of a file that the session wrote itself is no edit in place."""
    turns = (
        agent(
            "", write(f"{APP}/new.py", "a"), edit(f"{APP}/new.py", "a", "b"), edit(f"{APP}/old.py", "a", "b")
        ),
    )
    assert edited_in_place(turns, directory=APP, root=APP) == {"old.py"}
