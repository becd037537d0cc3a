"""Every kind of secret, in every field of every source, and in every word of a cycle: none is found again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from cycle_builders import Place, QuickRunner, run_cycle
from nightschool.rules.redaction import Redactor
from planted import found, found_below
from soak.cases import Case, Part, Seen
from soak.planted import KINDS, Planted
from source_samples import SAMPLES, places, read_all, replaced, sources, storable

KEY = b"a key of the soak, 32 bytes long."
_FIELDS = len(KINDS) * len(SAMPLES)
_STRIDE = 7919
"""A prime that divides no number of cases: the first of them, too, are of all kinds and sources."""
_NIGHTS = 20
_TOLD = ("text", "content", "output", "message")
"""Names under which rows of both agents of the demo hold words."""


def in_fields(case: Case) -> Seen:
    """One kind in one form of one source: alone in each field in turn, or in a sentence there."""
    at = case.number * _STRIDE % _FIELDS
    make, sample = list(KINDS.values())[at // len(SAMPLES)], SAMPLES[at % len(SAMPLES)]
    seen: Seen = Counter()
    for index, row in enumerate(sample.rows):
        for place in places(row):
            one = make(case.random)
            text = one.text if case.random.random() < 0.5 else f"look: {one.text}\nand go on"
            rows = [*sample.rows[:index], replaced(row, place, text), *sample.rows[index + 1 :]]
            # What was met before is known again: each field is a first meeting.
            source = sources(Redactor(KEY))[sample.source]
            results, told = read_all(source, sample.lay(case.folder, rows))
            shown = "\n".join([*map(storable, results), repr(results), repr(told)])
            where = f"{sample.source}, {sample.form}, row {index}, {place}"
            assert one.core not in shown, f"{one.kind} of {one.text!r} came through: {where}"
            seen["fields"] += 1
    return seen


def in_a_cycle(case: Case) -> Seen:
    """Some kinds in all that was said and printed: no store, export, report or runner gets any of them."""
    makes = list(KINDS.values())[case.number :: _NIGHTS]
    all_of_it = [make(case.random) for make in makes]
    cores = [one.core for one in all_of_it]
    place, runner = Place.made(case.folder), QuickRunner()
    sessions = sorted(place.person.glob(".c*/**/*.jsonl"))
    for path in sessions:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        text = "".join(json.dumps(_said(row, case.random, all_of_it)) + "\n" for row in rows)
        path.write_text(text, encoding="utf-8")
    run_cycle(place, runner=runner, jobs=30)
    assert runner.jobs, "nothing was practised: silence proves nothing"
    sent = repr(runner.jobs)
    assert not [core for core in cores if core in sent], "a runner is sent a secret"
    printed, seen = _printed(place, case.folder), Counter[str]()
    for name, content in printed.items():
        assert not found(content, cores), f"{name} shows {found(content, cores)}"
    assert found_below(place.ours, cores) == {}, "a file of ours holds a secret"
    assert {word for words in found_below(place.person, cores).values() for word in words} == set(cores)
    seen.update({"kinds": len(makes), "jobs sent": len(runner.jobs), "texts shown": len(printed)})
    return seen


def _said(value: Any, random: Random, all_of_it: list[Planted]) -> Any:
    """With a secret behind whatever is said or printed in a row."""
    if isinstance(value, list):
        return [_said(item, random, all_of_it) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{item}\n{random.choice(all_of_it).text}\n"
        if name in _TOLD and isinstance(item, str) and item[:1] not in {"[", "<", "{"}
        else _said(item, random, all_of_it)
        for name, item in value.items()
    }


def _printed(place: Place, folder: Path) -> dict[str, bytes]:
    """What the commands that show or export something gave, and the files that they wrote."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.person),
        "USER": "sam",
        "NIGHTSCHOOL_HOME": str(place.ours),
        "NIGHTSCHOOL_RUNNER": "scripted",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    printed = {}
    for given in (
        f"tasks export {folder}/tasks.toml",
        "tasks --json",
        "corrections --json",
        "harvest --all --json",
        f"report --format html --output {folder}/report.html",
        f"report --format md --output {folder}/report.md",
        "report --json",
        "proposals --json",
        "status --json",
    ):
        whole = [sys.executable, "-m", "nightschool", *given.split()]
        done = subprocess.run(whole, cwd=place.project, env=environment, check=False, capture_output=True)
        assert done.returncode in {0, 3, 4}, done.stderr.decode()
        printed[given] = done.stdout + done.stderr
    for path in (folder / "tasks.toml", folder / "report.html", folder / "report.md"):
        printed[path.name] = path.read_bytes()
    return printed


PARTS = (
    Part(
        name="secrets in every field",
        group="redaction",
        holds="every kind in every field of every source: none in what is stored, left out or explained",
        cases=_FIELDS,
        check=in_fields,
    ),
    Part(
        name="secrets through a cycle",
        group="redaction",
        holds="the same in all that was said: none is stored, exported, reported or sent to a runner",
        cases=_NIGHTS,
        check=in_a_cycle,
    ),
)
