"""Turns sessions into corrections, candidates and tasks, without a model.

The split comes first and is stored before anything else. Mining the same sessions twice changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nightschool.core.harness import Absent, File
from nightschool.core.ports import Projects, Store
from nightschool.core.sessions import Session
from nightschool.core.signals import SignalKind
from nightschool.core.tasks import (
    Assignment,
    Candidate,
    Check,
    Correction,
    FilesSource,
    Footprint,
    GitSource,
    HoldoutVersion,
    Split,
    Task,
    TaskMark,
    Touched,
    WorkspaceSource,
    roots_in,
)
from nightschool.core.values import Value, digest_of
from nightschool.rules.aims import skill_of
from nightschool.rules.checking import idle_passes
from nightschool.rules.corrections import corrections, own_turns
from nightschool.rules.marks import serving
from nightschool.rules.pieces import (
    History,
    Unfit,
    began_empty,
    concerned_piece,
    corrected_piece,
    guard_piece,
    inputs,
    prompt_of,
    skilled_piece,
)
from nightschool.rules.recorded import begun_in, edited_in_place, same_text, shown_at_start
from nightschool.rules.secret_names import holds_secrets
from nightschool.rules.signals import signals
from nightschool.rules.splits import ENOUGH, Cluster, Splits, asks_alike, assign, clusters
from nightschool.rules.words import DEFAULT, Words
from nightschool.rules.worth import Waits, has_form, weighed

MAX_TASKS = 40
"""New tasks of one run; the rest waits for the next."""
NEW_VERSION = 10
"""New hold-out tasks that start a new version at least; and half as many as the version has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined(Value):
    """What mining knows now, of the pool that it was asked for."""

    corrections: tuple[Correction, ...]
    """All that were heard in the pool, most sessions first."""
    candidates: tuple[Candidate, ...]
    waiting: tuple[Waits, ...]
    """Corrections that are no candidates yet."""
    tasks: tuple[Task, ...]
    """All tasks of the pool that serve, those of earlier runs too."""
    new_tasks: int
    assignments: tuple[Assignment, ...]
    skipped: tuple[tuple[str, str, str], ...]
    """Sessions that gave no task: (session, code, why). A session may stand here for several reasons."""
    postponed: int
    """Tasks that the cap left for the next run."""
    holdout: HoldoutVersion | None
    """The version that is open now; None while there is no hold-out task."""
    chosen: frozenset[str] | None = None
    """Ids of the tasks that a file names; None: nobody chose."""
    absent: tuple[Absent, ...] = ()
    """What lies in the person's projects and not in the workspaces of their latest tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan(Value):
    """A task that could be made, before its workspace is known."""

    history: History
    prompt: int
    check: Check
    concerns: tuple[str, ...]

    @property
    def key(self) -> str:
        return digest_of(self.history.session.id, self.prompt, self.check, self.concerns)


def mine(
    sessions: Iterable[Session],
    *,
    store: Store,
    projects: Projects,
    scope: str | None = None,
    max_tasks: int = MAX_TASKS,
    words: Words = DEFAULT,
) -> Mined:
    """Mine the sessions. `scope` is the root of one project, the pool of several, or None: all of them.

    Pass all sessions that are stored, not only those of the scope: splits and recurrence are seen over all,
    while candidates, tasks and every text that an editor may see come from the scope alone.
    """
    given = sorted(sessions, key=lambda session: session.id)
    directories = {session.id: session.project or "" for session in given}
    rooted = [_rooted(session, projects.root) for session in given]
    heard = corrections(rooted, words)
    splits = _split(rooted, heard, store)
    histories = _histories(rooted, heard, directories, words, scope)
    inside = {history.session.id for history in histories}
    _remember(heard, rooted, store)
    sides = {session: assignment.split for session, assignment in splits.homes().items()}
    candidates, waiting = weighed(heard, sides, inside)
    store.commit(*candidates)
    skipped = list(_left_out(rooted, splits, scope))
    homes = splits.homes()
    served = [history for history in histories if history.session.id in homes]
    plans = [plan for history in served for plan in _plans(history, candidates, heard, skipped)]
    new, postponed = _tasks(plans, homes, store, projects, max_tasks, skipped)
    store.commit(*new)
    tasks = serving(pooled(store, scope), store.find(TaskMark))
    return Mined(
        corrections=tuple(c for c in heard if inside & set(c.sessions)),
        candidates=candidates,
        waiting=waiting,
        tasks=tasks,
        new_tasks=len(new),
        assignments=splits.assignments,
        skipped=tuple(sorted(skipped)),
        postponed=postponed,
        holdout=open_holdout(tasks, scope or "", store),
        absent=tuple(_absent(tasks, projects)),
    )


def _absent(tasks: Sequence[Task], projects: Projects) -> Iterator[Absent]:
    dated = sorted((task for task in tasks if task.at is not None), key=lambda task: str(task.at))
    latest = {task.project: task.workspace for task in dated if isinstance(task.workspace, GitSource)}
    for source in latest.values():
        yield from projects.absent(source.repository, source.commit)


def pooled(store: Store, pool: str | None) -> Sequence[Task]:
    """The tasks of a pool: of one project, of several, or of all."""
    roots = roots_in(pool)
    if roots is None:
        return store.find(Task)
    return [task for root in sorted(roots) for task in store.find(Task, root)]


def _rooted(session: Session, root: Callable[[str], str]) -> Session:
    return session if session.project is None else replace(session, project=root(session.project))


def _split(sessions: Sequence[Session], heard: Sequence[Correction], store: Store) -> Splits:
    """Assign what is new and store it before anything is mined."""
    # A task from a file stands for a session of its own: what is asked alike joins its cluster.
    brought = {task.session: task.prompt for task in store.find(Task) if task.imported}
    found = clusters(sessions, brought)
    splits = assign(found, _topics(sessions, heard, found), store.find(Assignment))
    store.commit(*splits.new)
    return splits


def _topics(
    sessions: Iterable[Session], heard: Iterable[Correction], found: Iterable[Cluster]
) -> Mapping[str, frozenset[str]]:
    """The corrections with a machine form that each cluster holds. A project that holds one in several
    clusters is a topic of its own, so that a run on that project alone has something to train on too."""
    home = {session: cluster.id for cluster in found for session in cluster.sessions}
    roots = {session.id: session.project or "" for session in sessions}
    topics: dict[str, set[str]] = defaultdict(set)
    for correction in heard:
        if not has_form(correction):
            continue
        by_root: dict[str, set[str]] = defaultdict(set)
        for session in correction.sessions:
            topics[home[session]].add(correction.key)
            by_root[roots[session]].add(home[session])
        for root, holders in by_root.items():
            for cluster in holders if len(holders) > ENOUGH else ():
                topics[cluster].add(f"{correction.key}\n{root}")
    return {cluster: frozenset(keys) for cluster, keys in topics.items()}


def _histories(
    sessions: Sequence[Session],
    heard: Sequence[Correction],
    directories: Mapping[str, str],
    words: Words,
    scope: str | None,
) -> list[History]:
    roots = roots_in(scope)
    told: dict[str, set[int]] = defaultdict(set)
    for moment in (moment for correction in heard for moment in correction.moments):
        told[moment.session].add(moment.turn)
    histories: list[History] = []
    for session, fresh in own_turns(sessions):
        if roots is not None and session.project not in roots:
            continue
        given = signals(session, words)
        spoken = {s.turn for s in given if s.kind is SignalKind.CORRECTION}
        histories.append(
            History(
                session=session,
                directory=directories[session.id],
                root=session.project or "",
                fresh=fresh,
                told=frozenset(told[session.id] | spoken),
                heard=frozenset(signal.kind for signal in given),
            )
        )
    return histories


def _remember(heard: Sequence[Correction], sessions: Iterable[Session], store: Store) -> None:
    """Store the corrections, and drop those that all sessions were read again for and no longer give."""
    known = {session.id for session in sessions}
    current = {correction.id for correction in heard}
    for old in store.find(Correction):
        if old.id not in current and known.issuperset(old.sessions):
            store.remove(Correction, old.id)
    store.commit(*heard)


def _left_out(
    sessions: Iterable[Session], splits: Splits, scope: str | None
) -> Iterator[tuple[str, str, str]]:
    roots = roots_in(scope)
    for session in sessions:
        if roots is not None and session.project not in roots:
            continue
        if session.ours:
            yield session.id, "own-replay", "one of our own replays"
        elif session.sidechain:
            yield session.id, "sub-agent", "a sub-agent's own file"
        elif session.headless:
            yield session.id, "headless", "started by a machine"
        elif session.id in splits.straddling:
            yield session.id, "straddles", "its request is like one for training and like one held out"


def _plans(
    history: History,
    candidates: Sequence[Candidate],
    heard: Sequence[Correction],
    skipped: list[tuple[str, str, str]],
) -> Iterator[_Plan]:
    """The tasks that one session could give: one for each candidate that it concerns, else a guard."""
    session = history.session
    if not history.root:
        skipped.append((session.id, "no-project", "no row names the folder that it ran in"))
        return
    moments = {c.id: tuple(m.turn for m in c.moments if m.session == session.id) for c in heard}
    work = history.first_work()
    concerned = False
    for candidate in candidates:
        if candidate.project not in {"", history.root} or not isinstance(candidate.check, Footprint):
            continue
        told = moments.get(candidate.correction, ())
        found = (
            corrected_piece(history, tuple(sorted(told)), candidate.check)
            if told
            else concerned_piece(history, work, candidate.check)
        )
        skill = skill_of(candidate)
        if found is None and skill is not None and candidate.check.unwanted is None:
            # What is always wanted is wanted here too; "this, not that" is about work in which either stands.
            found = skilled_piece(history, skill)
        concerned = concerned or found is not None
        if isinstance(found, Unfit):
            skipped.append((session.id, found.code, found.text))
        elif found is not None:
            yield _Plan(history=history, prompt=found, check=candidate.check, concerns=(candidate.id,))
    if not concerned:
        guard = guard_piece(history, work)
        if isinstance(guard, Unfit):
            skipped.append((session.id, guard.code, guard.text))
        else:
            yield _Plan(history=history, prompt=guard[0], check=Touched(paths=guard[1]), concerns=())


def _tasks(
    plans: Sequence[_Plan],
    homes: Mapping[str, Assignment],
    store: Store,
    projects: Projects,
    max_tasks: int,
    skipped: list[tuple[str, str, str]],
) -> tuple[list[Task], int]:
    """New tasks, up to the cap: those that concern a candidate first, then the latest sessions. A task
    that is known stays as it is, also where its commit would be found differently today."""
    stored = store.find(Task)
    known = {digest_of(task.session, task.turn, task.checks[0], task.concerns) for task in stored}
    new: list[Task] = []
    postponed = 0
    for plan in sorted((plan for plan in plans if plan.key not in known), key=_urgency):
        session = plan.history.session
        if idle_passes((plan.check,)):
            skipped.append((session.id, "idle-passes", "doing nothing would pass"))
            continue
        if _stands_opposite(prompt_of(session.turns[plan.prompt]), homes[session.id].split, (*stored, *new)):
            text = "its request is like that of a task on the other side of the split"
            skipped.append((session.id, "straddles", text))
            continue
        workspace = _workspace(plan.history, projects)
        if isinstance(workspace, Unfit):
            skipped.append((session.id, workspace.code, workspace.text))
        elif len(new) >= max_tasks:
            postponed += 1
            skipped.append((session.id, "postponed", f"{max_tasks} new tasks are the limit of one run"))
        else:
            new.append(_task(plan, workspace, homes[session.id]))
    return new, postponed


def _stands_opposite(prompt: str, split: Split, tasks: Iterable[Task]) -> bool:
    """Sessions were parted by their first prompts; a later one may still be asked on both sides."""
    return any(task.split is not split and asks_alike(prompt, task.prompt) for task in tasks)


def _urgency(plan: _Plan) -> tuple[bool, float, str]:
    at = plan.history.session.started_at
    return (not plan.concerns, 0.0 if at is None else -at.timestamp(), plan.key)


def _task(plan: _Plan, workspace: WorkspaceSource, assignment: Assignment) -> Task:
    session = plan.history.session
    turn = session.turns[plan.prompt]
    return Task(
        prompt=prompt_of(turn),
        workspace=workspace,
        checks=(plan.check,),
        session=session.id,
        turn=plan.prompt,
        source=session.source,
        project=plan.history.root,
        cluster=assignment.cluster,
        split=assignment.split,
        concerns=plan.concerns,
        at=turn.at or session.started_at,
        folder=begun_in(plan.history.directory, root=plan.history.root),
        skills=session.skills,
    )


def _workspace(history: History, projects: Projects) -> WorkspaceSource | Unfit:
    """The project as it was when the session began: its commit, unless a file that the session shows
    differs from it (a dirty tree); else the files that the session shows in full."""
    session = history.session
    open_to_all = shown_at_start(session, directory=history.directory, root=history.root)
    shown = {path: text for path, text in open_to_all.items() if not holds_secrets(path)}
    edited = edited_in_place(session.turns, directory=history.directory, root=history.root)
    commit = session.commit
    if commit is not None and not projects.holds(history.root, commit):
        commit = None  # a squash or a rebase took it: the nearest in time is as good as for other sessions
    if commit is None and session.started_at is not None:
        commit = projects.commit_at(history.root, branch=session.branch, at=session.started_at)
    if commit is not None:
        committed = {path: projects.text_at(history.root, commit, path) for path in {*shown, *edited}}
        missing = any(committed[path] is None for path in edited)
        differs = any(
            there is not None and not same_text(text, there)
            for path, text in shown.items()
            for there in (committed[path],)
        )
        if not missing and not differs:
            return GitSource(repository=history.root, commit=commit)
    if not shown and not began_empty(history):
        return Unfit(
            code="no-workspace", text="neither a clean commit nor a file shown in full tells its start"
        )
    if edited - shown.keys():
        return Unfit(code="no-workspace", text="it changed files that it does not show in full")
    if unseen := {path for path in inputs(history) if not holds_secrets(path)} - shown.keys():
        text = f"it reads {min(unseen)}, which it does not show in full: practice would lack it"
        return Unfit(code="no-workspace", text=text)
    files = (File(path=path, content=text.encode("utf-8", "replace")) for path, text in shown.items())
    return FilesSource(files=tuple(sorted(files, key=lambda file: file.path)))


def holdout_of(
    candidate: Candidate, mined: Mined, *, store: Store, pool: str | None
) -> HoldoutVersion | None:
    """The version that a draft for a candidate is examined on. That of its project, also in a run over
    several: else an edit that failed there would have a second chance, with an alpha of its own, on the same
    tasks in another pool. What was said in several projects is examined on the tasks of the run."""
    project = candidate.project
    if not project or project == pool:
        return mined.holdout
    own = serving(pooled(store, project), store.find(TaskMark))
    return open_holdout({*own, *(task for task in mined.tasks if task.project == project)}, project, store)


def enough_new(version: HoldoutVersion) -> int:
    """So many new hold-out tasks begin the version after this one."""
    return max(NEW_VERSION, -(-len(version.tasks) // 2))


def open_holdout(tasks: Iterable[Task], pool: str, store: Store) -> HoldoutVersion | None:
    """The open version; a new one by the count of new tasks alone, never by results. `tasks` are those that
    serve: what a person took out comes into no further version, and makes none begin."""
    held = tuple(sorted(task.id for task in tasks if task.split is Split.HOLDOUT))
    versions = store.find(HoldoutVersion, pool)
    current = max(versions, key=lambda version: version.number, default=None)
    if current is not None and len(set(held) - set(current.tasks)) < enough_new(current):
        return current
    if not held:
        return None
    number = 1 if current is None else current.number + 1
    opened = HoldoutVersion(pool=pool, number=number, tasks=held)
    store.commit(opened)
    return opened
