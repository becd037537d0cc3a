"""Forgetting one session or project leaves others what is theirs: their pages, and the person's word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from nightschool.core.cycles import CycleReport
from nightschool.core.harness import Scope
from nightschool.core.proposals import Draft, Status
from nightschool.core.tasks import Task
from nightschool.core.trials import Trial
from nightschool.rules.speaking_of import Chosen
from nightschool.stages import publish, releases


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A whole cycle over the demo's sessions."""
    place = Place.made(tmp_path)
    run_cycle(place, runner=QuickRunner())
    return place


def test_the_page_of_another_project_stays(place: Place) -> None:
    """Only what lists a task of what is forgotten, or speaks of it, goes: not what other projects came to."""
    with cycle_in(place) as (parts, _):
        (report,) = parts.store.find(CycleReport)
        item = next(item for item in report.learned if item.draft is not None)
        bare = replace(item, statement="indent with tabs", why="passed", aim="", edits=(), refused=())
        theirs = replace(bare, candidate="k-0123456789", draft="d-0123456789", target=None)
        other = replace(report, cycle="n-0099", project="/elsewhere", learned=(theirs,), notes=(), missing=())
        parts.store.commit(other)
        tried = {trial.task for trial in parts.store.find(Trial)}
        task = next(one for one in parts.store.find(Task) if one.id in tried)
        plan = parts.forgetting().planned(Chosen(sessions=frozenset({task.session})))
        assert plan.cycles == (report.cycle,)
        whole = parts.forgetting().planned(parts.forgetting().of_project(str(place.project)))
        assert whole.cycles == (report.cycle,)


def test_a_word_on_a_rule_of_all_projects_outlives_one_of_them(place: Place) -> None:
    """What a person took back or turned down for their own file is not proposed again, and paid for again,
    since one of the projects in which it was said was forgotten; what nobody said a word on goes."""
    with cycle_in(place) as (parts, _):
        case = next(c for c in releases.drafts(parts.store) if c.status is Status.IN_REVIEW)
        assert case.candidate is not None
        gone = {case.draft.edits[0].moment.session}
        left = tuple(moment for moment in case.candidate.evidence if moment.session not in gone)
        assert left
        target = replace(case.draft.target, scope=Scope.USER, project="", place="user/.claude/CLAUDE.md")
        own = replace(case.draft, target=target)
        safety = replace(case.safety[-1], draft=own.digest)
        verdict = replace(case.verdicts[-1], draft=own.digest)
        silent = replace(own, live=None, before=None)
        parts.store.commit(own, silent, safety, verdict)
        publish.reject(own.id, store=parts.store, clock=parts.clock, actor="sam", reason="no")
        with parts.store.hold("cycle"):
            parts.forgetting().forget(Chosen(sessions=frozenset(gone)), for_good=True)
        kept = releases.dossier(parts.store, own.id)
        assert kept.status is Status.REJECTED
        assert kept.draft.edits[0].moment.quote == ""
        assert parts.store.get(Draft, silent.id) is None
        parts.forget_due()
        assert releases.dossier(parts.store, own.id).status is Status.REJECTED
