"""The report as a file: that it holds the evidence, and that no text in it becomes markup."""

from __future__ import annotations

import json
import re
import stat
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.cycles import Budget, CycleReport, Learned, Spend
from nightschool.core.harness import Absent
from nightschool.core.proposals import Draft, Edit, RefusedEdit
from nightschool.core.tasks import FilesSource, Split, Task
from nightschool.core.trials import Arm, Draw, Trial
from nightschool.core.values import digest_of
from nightschool.rules.report import inline
from nightschool.testing.clock import FakeClock
from publish_builders import AFTER, CANDIDATE, MOMENT, draft_of, safety_of, verdict_of

HOSTILE = (
    "</p></pre></svg><script>alert(1)</script><img src=https://x.example/ onerror='x()'> \"' & \u202e``` |"
)
SECRET = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d"
PAGE = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1", "h2", "h3", "p"}
PARTS = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "span"}
PICTURE = {"svg", "text", "line", "polyline", "circle"}
ALLOWED = PAGE | PARTS | PICTURE
WEALTH = digest_of("wealth")
NOW = FakeClock().now()


class Read(HTMLParser):
    """What a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.cells: list[str] = []
        self.within = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "td":
            self.cells.append("")
        self.within = tag == "td"

    def handle_endtag(self, tag: str) -> None:
        self.within = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.within:
            self.cells[-1] += data


def hostile_task(project: str = "/p") -> Task:
    return Task(
        prompt=HOSTILE,
        workspace=FilesSource(),
        checks=(CANDIDATE.check,),
        session="s",
        turn=0,
        source="codex",
        project=project,
        cluster="s-1",
        split=Split.HOLDOUT,
        concerns=(CANDIDATE.id,),
    )


def trials_of(task: Task) -> list[Trial | Draw]:
    """One pair: the draft passes, the base does not."""
    draw = Draw(wealth=WEALTH, draw=7, role="target", task=task.id, base_first=True, cycle="cycle-1")
    return [
        draw,
        *(
            Trial(
                task=task.id,
                arm=arm,
                harness=digest_of(arm),
                job=digest_of(arm),
                draw=7,
                score=score,
                judge="1",
                purpose="target",
                cycle="cycle-1",
            )
            for arm, score in ((Arm.BASE, 0.0), (Arm.DRAFT, 1.0))
        ),
    ]


def report_of(draft: Draft, project: Path) -> CycleReport:
    refused = RefusedEdit(edit=draft.edits[0], code="unsafe", text=HOSTILE, candidate="k-9", cycle="cycle-1")
    learned = (
        Learned(
            candidate=CANDIDATE.id, statement=HOSTILE, sessions=2, code="accept", why=HOSTILE, draft=draft.id
        ),
        Learned(
            candidate="k-9", statement=HOSTILE, sessions=2, code="unsafe", why=HOSTILE, refused=(refused,)
        ),
    )
    return CycleReport(
        cycle="cycle-1",
        started_at=NOW,
        ended_at=NOW,
        project=str(project),
        runner="codex",
        runner_version=HOSTILE,
        model=HOSTILE,
        sandbox="bubblewrap",
        mode="certify",
        sessions_read=2,
        sessions_known=2,
        human_turns=4,
        left_out=((HOSTILE, 1),),
        postponed=0,
        corrections=1,
        candidates=1,
        tasks_train=1,
        tasks_holdout=1,
        skipped=((HOSTILE, 1),),
        learned=learned,
        spend=Spend(jobs=2),
        budget=Budget(),
        trials=2,
        lost_by_arm=((HOSTILE, 1),),
        notes=(HOSTILE,),
        missing=(Absent(kind=HOSTILE, name=HOSTILE, place=HOSTILE),),
        failed=HOSTILE,
    )


@pytest.fixture
def draft(home: Path) -> Draft:
    """A cycle in whose every text somebody tries to break out, and a live file that holds a secret."""
    store = SqliteStore.open(home / "school")
    made = draft_of(store, AFTER + f"token: {SECRET}\n".encode(), AFTER + f"{HOSTILE}\n".encode())
    moment = replace(MOMENT, quote=HOSTILE, session=HOSTILE)
    made = replace(made, edits=(Edit(op="add", rule=HOSTILE, moment=moment, why=HOSTILE),))
    verdict = replace(
        verdict_of(made), why=HOSTILE, code="budget-ended", wealth_key=WEALTH, wealth=2.0, alpha=0.06, pairs=1
    )
    task = hostile_task(str(home))
    store.commit(
        replace(CANDIDATE, statement=HOSTILE),
        made,
        safety_of(made),
        replace(verdict, path=(1.0, 2.0)),
        task,
        *trials_of(task),
        report_of(made, home),
    )
    store.close()
    return made


def written(home: Path, name: str, *arguments: str) -> str:
    assert run(["report", name, *arguments]) == 0
    (path,) = (home / "school/reports").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["cycle-1", "proposal"])
def test_hostile_text_is_only_shown(home: Path, draft: Draft, name: str) -> None:
    """Whatever a prompt, a rule, a reason or a name holds, the page has no element but its own kinds, no
    attribute that acts, and names no host; the text is there to be read."""
    text = written(home, draft.id if name == "proposal" else name)
    read = Read(text)
    assert {tag for tag, _ in read.tags} <= ALLOWED
    names = {attribute for _, attributes in read.tags for attribute in attributes}
    assert not [one for one in names if one.startswith("on") or one in {"href", "src", "style"}]
    values = [value or "" for _, attributes in read.tags for value in attributes.values()]
    assert {found for value in values for found in re.findall(r"\w+://\S+", value)} == {
        "http://www.w3.org/2000/svg"
    }
    assert "<script>alert(1)</script>" in read.text
    assert "\u202e" not in text


def test_a_page_may_load_nothing(home: Path, draft: Draft) -> None:
    """The policy in the file allows its one style, by its digest, and nothing else."""
    read = Read(written(home, "cycle-1"))
    (policy,) = [a["content"] for tag, a in read.tags if tag == "meta" and "http-equiv" in a]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert [tag for tag, _ in read.tags].count("style") == 1


@pytest.mark.parametrize("kind", ["html", "md", "json"])
@pytest.mark.parametrize("name", ["cycle-1", "proposal"])
def test_a_secret_of_a_live_file_is_not_carried_along(home: Path, draft: Draft, name: str, kind: str) -> None:
    """A diff shows lines of the person's own file; what is secret in them has its stand-in in the report."""
    text = written(home, draft.id if name == "proposal" else name, "--format", kind)
    assert SECRET not in text
    assert "[secret:" in text


def test_hostile_text_opens_no_markdown(home: Path, draft: Draft) -> None:
    """As Markdown no text opens a tag, and none but the diff's own lines ends the diff."""
    for name in ("cycle-1", draft.id):
        assert run(["report", name, "--format", "md", "--force", "--output", str(home / "r.md")]) == 0
        text = (home / "r.md").read_text(encoding="utf-8")
        outside = re.sub(r"^(`{3,})diff\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        assert not re.search(r"(?<!\\)<", outside)


def test_each_task_has_its_tries(home: Path, draft: Draft) -> None:
    """What was asked, for what, the number of its kind, and how many tries passed in each arm."""
    cells = Read(written(home, "cycle-1")).cells
    at = cells.index(hostile_task(str(home)).id)
    assert cells[at + 1].startswith("</p></pre></svg><script>")
    assert cells[at + 2 : at + 6] == ["exam", "1", "0 of 1", "1 of 1"]


@pytest.mark.parametrize("kind", ["html", "md", "json"])
@pytest.mark.parametrize("name", ["cycle-1", "proposal"])
def test_a_report_is_of_its_own_cycle_and_project(home: Path, draft: Draft, name: str, kind: str) -> None:
    """The same correction is practised in another project, and again in a later cycle: a report that is
    written anew then holds no task of either."""
    own, elsewhere, later = (
        replace(hostile_task(), prompt=prompt, split=Split.TRAIN, project=project)
        for prompt, project in (("own", str(home)), ("elsewhere", "/q"), ("later", str(home)))
    )
    with closing(SqliteStore.open(home / "school")) as store:
        store.commit(own, elsewhere, later)
        for task, cycle in ((own, "cycle-1"), (elsewhere, "cycle-1"), (later, "cycle-2")):
            job = digest_of(task.id)
            base = Trial(
                task=task.id,
                arm=Arm.BASE,
                harness=draft.base,
                job=job,
                score=0.0,
                judge="1",
                cycle=cycle,
                purpose="train",
            )
            store.commit(base)
    text = written(home, draft.id if name == "proposal" else name, "--format", kind)
    assert own.id in text
    assert elsewhere.id not in text
    assert later.id not in text


@pytest.mark.parametrize("kind", ["html", "md"])
@pytest.mark.parametrize("name", ["cycle-1", "proposal"])
def test_what_may_be_sent_names_no_home_folder(home: Path, draft: Draft, name: str, kind: str) -> None:
    """Where the person's home lies stands as ~ in what people read, whatever way it got there; a folder whose
    name only begins like it is another one."""
    with closing(SqliteStore.open(home / "school")) as store:
        notes = (f"{home}/shop/CLAUDE.md, ({home}) and {home}-backup/x",)
        store.commit(replace(report_of(draft, home / "shop"), cycle="cycle-2", notes=notes))
    text = written(home, draft.id if name == "proposal" else "cycle-2", "--format", kind)
    left = text.replace(f"{home}-backup/x", "").replace(inline(f"{home}-backup/x"), "")
    assert str(home) not in left
    assert inline(str(home)) not in left
    if name != "proposal":
        assert "Project: ~/shop" in text
        assert left != text


@pytest.mark.parametrize("kind", ["html", "md", "json"])
def test_each_form_has_the_tries_and_the_diff(home: Path, draft: Draft, kind: str) -> None:
    """A cycle's report holds the tries task by task and the diff in whichever form."""
    text = written(home, "cycle-1", "--format", kind)
    assert hostile_task(str(home)).id in text
    assert "--- a/CLAUDE.md" in text
    if kind == "json":
        (tried,) = json.loads(text)["proposals"][draft.id]["tries"]
        assert (tried["for"], tried["passed_without"], tried["passed_with"]) == ("exam", "0 of 1", "1 of 1")


def test_the_page_has_the_evidence(home: Path, draft: Draft) -> None:
    """Curve, diff, edit with the person's words, and both colour schemes and paper in the style."""
    text = written(home, "cycle-1")
    read = Read(text)
    assert "evidence 2 after 1 pair; 16.7 is needed" in read.text
    assert "--- a/CLAUDE.md" in read.text
    assert "you said:" in read.text
    for part in ("prefers-color-scheme:dark", "@media print", "<polyline"):
        assert part in text


def test_where_it_is_written(home: Path, draft: Draft, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --output in our own home, else where it is told; the name decides the form."""
    assert run(["report", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "report": "cycle-1",
        "format": "html",
        "path": str(home / "school/reports/cycle-1.html"),
    }
    assert run(["report", draft.id[:6], "--output", "exam.json"]) == 0
    assert json.loads((home / "exam.json").read_text())["id"] == draft.id
    capsys.readouterr()
    assert run(["report", "cycle-1", "--output", "-", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycle"] == "cycle-1"


def test_what_lies_there_is_not_overwritten(
    home: Path, draft: Draft, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is there stays as it is until --force; what cannot be written or found is told."""
    (home / "mine.html").write_text("mine")
    assert run(["report", "--output", "mine.html"]) == 2
    assert "--force" in capsys.readouterr().err
    assert (home / "mine.html").read_text() == "mine"
    assert run(["report", "--output", "mine.html", "--force"]) == 0
    assert (home / "mine.html").read_text().startswith("<!doctype html>")
    for arguments, told in (
        (["--output", str(home)], "is a folder"),
        (["--output", "no/where.html"], "there is no folder"),
        (["--output", "exam.pdf"], "no report is written as .pdf; name a file with .html, .md, .json"),
        (["--format", "pdf"], "allowed are html, md, json"),
        (["--output", "-", "--json"], "name a file"),
        (["n-7"], "the newest are cycle-1"),
        (["d-7"], "d-7"),
        (["--project", "/"], "no cycle of /"),
    ):
        assert run(["report", *arguments]) == 2
        assert told in "".join(capsys.readouterr())


def test_nothing_is_made_where_nothing_is(home: Path) -> None:
    """Asked before any cycle, it says so and leaves no store behind."""
    assert run(["report"]) == 2
    assert not (home / "school").exists()


def test_a_proposal_lies_below_the_name_of_its_cycle(home: Path, draft: Draft) -> None:
    """In our own home, so that forgetting what a cycle read takes the reports of its proposals along."""
    assert run(["report", draft.id]) == 0
    (path,) = (home / "school/reports").iterdir()
    assert path.name == f"cycle-1.{draft.id}.html"


def test_a_proposal_that_is_gone_costs_no_report(home: Path, draft: Draft) -> None:
    """A cycle whose proposal is not in the store any more is told by what its report says of it."""
    store = SqliteStore.open(home / "school")
    report = report_of(draft, home)
    store.commit(replace(report, cycle="cycle-2", learned=(replace(report.learned[0], draft="d-gone"),)))
    store.close()
    assert run(["report", "cycle-2", "--output", "r.html"]) == 0
    assert "certified: it passed the gate" in Read((home / "r.html").read_text()).text
