"""What the tasks of a project without git start from, and requests that are none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conversations import agent, bash, corrected, edit, human, read, session, write
from mine_builders import APP, REQUESTS, Repositories
from nightschool.core.sessions import CallStatus, Session, ToolCall, Turn
from nightschool.core.tasks import FilesSource
from nightschool.stages.mine import Mined, mine
from nightschool.testing.memory_store import MemoryStore

NO_GIT = Repositories(commit=None)
PATCH = "*** Begin Patch\n*** Add File: src/new.py\n+value = 1\n*** End Patch"
LOG = "Traceback (most recent call last):\n  File 'a.py', line 3\nValueError: bad\nERROR: it failed"


def without_git(*turns: Turn, branch: str | None = None) -> Session:
    return replace(session("w", *turns), branch=branch)


def mined(one: Session, projects: Repositories = NO_GIT) -> Mined:
    return mine([one], store=MemoryStore(), projects=projects)


def created(path: str, content: str) -> ToolCall:
    return replace(write(path, content), result=f"File created successfully at: {path}")


def patched() -> ToolCall:
    arguments = json.dumps({"input": PATCH})
    return ToolCall(
        call_id="p", name="apply_patch", arguments=arguments, files=("src/new.py",), status=CallStatus.OK
    )


@pytest.mark.parametrize(
    "made", [created(f"{APP}/src/new.py", "value = 1\n"), patched()], ids=["write", "patch"]
)
@pytest.mark.parametrize("branch", [None, "", "HEAD"])
def test_a_file_that_was_made_tells_that_there_was_none(made: ToolCall, branch: str | None) -> None:
    """Without git, a session that made all files that it changed began with nothing."""
    (task,) = mined(without_git(human(REQUESTS[0]), agent("", made), branch=branch)).tasks
    assert task.workspace == FilesSource(files=())


@pytest.mark.parametrize(
    "calls",
    [
        (write(f"{APP}/a.py", "1\n"),),
        (created(f"{APP}/a.py", "1\n"), write(f"{APP}/b.py", "2\n")),
        (created(f"{APP}/a.py", "1\n"), edit(f"{APP}/b.py", "1", "2")),
        (
            replace(
                read(f"{APP}/b.py", "x\n"), arguments=json.dumps({"file_path": f"{APP}/b.py", "limit": 1})
            ),
            created(f"{APP}/a.py", "1\n"),
        ),
        (replace(created(f"{APP}/a.py", "1\n"), status=CallStatus.ERROR),),
    ],
    ids=["overwritten", "beside another", "beside an edit", "beside a part of another", "failed"],
)
def test_any_other_file_leaves_the_start_unknown(calls: tuple[ToolCall, ...]) -> None:
    """A file that was there before, and is not shown in full, is missing from a task that begins empty."""
    assert mined(without_git(human(REQUESTS[0]), agent("", *calls))).tasks == ()


@pytest.mark.parametrize(
    "calls",
    [
        (bash("head -3 data/customers.csv", "id,name\n"), created(f"{APP}/a.py", "1\n")),
        (created(f"{APP}/a.py", "import polars as pl\npl.read_csv('data/customers.csv')\n"),),
        (read(f"{APP}/a.py", "1\n"), bash("wc -l data/customers.csv", "3\n"), edit(f"{APP}/a.py", "1", "2")),
    ],
    ids=["a command", "code", "beside a file that is shown"],
)
def test_what_the_work_reads_and_nobody_shows_is_missing(calls: tuple[ToolCall, ...]) -> None:
    """Practice without the data that the work is about shows nothing: no task, and the file is named."""
    found = mined(without_git(human(REQUESTS[0]), agent("", *calls)))
    assert found.tasks == ()
    assert "it reads data/customers.csv" in found.skipped[0][2]


def test_a_file_that_the_request_names_and_nobody_shows_is_missing() -> None:
    """ "Sum up data/customers.csv" needs that file, also where only `ls` came near it."""
    asked = human("Sum up data/customers.csv in totals.py and say what you find")
    found = mined(
        without_git(asked, agent("", bash("ls data", "customers.csv\n"), created(f"{APP}/totals.py", "1\n")))
    )
    assert found.tasks == ()
    assert "it reads data/customers.csv" in found.skipped[0][2]


def test_what_the_work_made_before_it_read_it_is_not_missing() -> None:
    """A session that writes its own data began with nothing nevertheless."""
    calls = (
        created(f"{APP}/data.csv", "1\n"),
        created(f"{APP}/a.py", "open('data.csv')\n"),
        bash("cat data.csv", "1\n"),
    )
    (task,) = mined(without_git(human(REQUESTS[0]), agent("", *calls))).tasks
    assert task.workspace == FilesSource(files=())


def test_a_request_that_gives_the_rule_itself_is_no_task_about_it() -> None:
    """ "Install it with pnpm, not npm" is done right without any edit: it can tell no draft from its base."""
    heard = [
        corrected(f"s{n}", request, "use pnpm, not npm", day=n) for n, request in enumerate(REQUESTS[:6])
    ]
    asked = human("Install left-pad with pnpm, not npm")
    obeyed = session("obeyed", asked, agent("Done.", bash("pnpm add left-pad")), day=7)
    again = corrected("again", asked.text, "again: use pnpm, not npm", day=8)
    found = mine([*heard, obeyed, again], store=MemoryStore(), projects=Repositories())
    assert found.candidates
    for told in (obeyed, again):
        assert [task for task in found.tasks if task.session == told.id and task.concerns] == []
        assert "told-in-request" in {code for name, code, _ in found.skipped if name == told.id}


def test_a_repository_that_is_gone_did_not_begin_empty() -> None:
    """Where the session names a branch, files lay there that it need not show."""
    one = without_git(human(REQUESTS[0]), agent("", created(f"{APP}/a.py", "1\n")), branch="main")
    assert {code for _, code, _ in mined(one).skipped} == {"no-workspace"}


def test_files_of_secrets_are_no_part_of_a_start() -> None:
    """What `cat .env` shows is in no task, neither alone nor beside another file."""
    secret = bash("cat .env", "TOKEN=1\n")
    alone = without_git(human(REQUESTS[0]), agent("", secret, write(f"{APP}/a.py", "2\n")))
    assert {code for _, code, _ in mined(alone).skipped} == {"no-workspace"}
    shown = read(f"{APP}/a.py", "1\n")
    beside = without_git(human(REQUESTS[0]), agent("", secret, shown, edit(f"{APP}/a.py", "1", "2")))
    (task,) = mined(beside).tasks
    assert isinstance(task.workspace, FilesSource)
    assert [file.path for file in task.workspace.files] == ["a.py"]


def test_a_request_that_refers_back_is_no_task() -> None:
    """ "ok fix it" behind a pasted log means nothing by itself; why there is no task is told in its words."""
    fixed = write(f"{APP}/a.py", "1\n")
    one = session("r", human(LOG), agent("I see."), human("ok fix it"), agent("", fixed))
    found = mined(one, Repositories())
    assert found.tasks == ()
    ((_, code, why),) = found.skipped
    assert (code, why) == ("refers-back", "its request, 'ok fix it', speaks of what stood before it")


def test_a_request_before_it_has_its_work() -> None:
    """Behind a plan, "ok do it" goes on with the work that was asked for: that is the task."""
    made = write(f"{APP}/a.py", "1\n")
    one = session("r", human(REQUESTS[0]), agent("A plan."), human("ok do it"), agent("", made))
    (task,) = mined(one, Repositories()).tasks
    assert task.prompt == REQUESTS[0]


def test_a_correction_of_such_a_request_makes_no_task() -> None:
    """Nor does one that was corrected there."""
    sessions = [
        replace(
            session(
                f"r{n}",
                human(LOG),
                agent("I see."),
                human("ok fix it"),
                agent("", bash("npm install")),
                human("use pnpm, not npm"),
                agent("", bash("pnpm install")),
                day=n,
            ),
        )
        for n in range(3)
    ]
    found = mine(sessions, store=MemoryStore(), projects=Repositories())
    assert found.tasks == ()
    assert {code for _, code, _ in found.skipped} == {"refers-back"}
