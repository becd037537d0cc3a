"""What the gate says, decided from values alone: no trial is made here and no outcome is looked up.

The statistics and their promise are in `betting`, drawing and scoring in `pairing`, guards in `guards`;
who makes the trials is `stages/examine`. `decide` is a function of the pairs so far, in the order of their
draws, so a gate that was interrupted comes to the same word as one that was not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nightschool.core.proposals import Certify, VerdictCode, VerdictKind
from nightschool.core.tasks import Split, Task
from nightschool.core.trials import Pair
from nightschool.core.values import Value
from nightschool.rules.betting import Wealth, wins_needed
from nightschool.rules.intervals import even_odds_p
from nightschool.rules.pairing import Losses
from nightschool.rules.telling import counted, figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Value):
    """The numbers of the gate. A person may change them; each verdict names what it was given with."""

    mode: Literal["certify", "suggest", "off"] = "certify"
    metric: Literal["hard"] = "hard"
    alpha: float = 0.10
    """Of one hold-out version, over all its drafts."""
    margin: float = 0.15
    """Where a draft must only be not worse: by how much of the mean score at most."""
    reject_below: float = 0.2
    reject_after: int = 6
    """Decided pairs before a low wealth rejects."""
    least_clusters: int = 3
    won_clusters: int = 5
    blind_after: int = 12
    """Pairs without any difference, or all passed by the base, after which the exam is called invalid.
    A draft that gains 30 points differs in at least 30 % of the pairs: twelve without any have a chance
    of at most 0.7^12 = 1.4 %. A base that passes less than 78 % passes twelve of twelve in less than 5 %."""
    unloaded_after: int = 4
    """Pairs none of which loaded the skill that is edited, after which no more is spent. One that is loaded
    in every second try is silent so long in 6 % of cases."""
    kind_after: int = 8
    """Pairs of one kind of task, all alike, after which no more is spent on winning it. One that differs in
    every third pair is alike so long in 4 % of cases."""
    most_pairs: int = 100
    """Over all cycles: two cycles of the default budget of 100 jobs. Then a draft stays undecided."""
    most_guards: int = 6
    guard_tries: int = 5
    guard_passes: int = 4
    most_probed: int = 12
    """Tasks that are looked at, in random order, to find guards that the base passes."""
    guard_pairs: int = 5
    most_guard_pairs: int = 12
    guard_worry: float = 2.0
    guard_alpha: float = 0.1
    """`m` guards block at a harm of `m / guard_alpha`."""
    loss_level: float = 0.05
    lost_share: float = 0.25
    """More lost pairs than this, once `lost_least` are lost, and nothing is decided."""
    lost_least: int = 4
    suggest_pairs: int = 6
    report_per_cluster: int = 2
    most_report_pairs: int = 12
    least_report_pairs: int = 4

    def __post_init__(self) -> None:
        for name in ("alpha", "margin", "guard_alpha", "loss_level", "lost_share"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"gate.{name} lies between 0 and 1, not {getattr(self, name)}")
        if not 1 <= self.guard_pairs <= self.most_guard_pairs:
            raise ValueError("gate.guard_pairs lies between 1 and gate.most_guard_pairs")
        if not 1 <= self.guard_passes <= self.guard_tries:
            raise ValueError("gate.guard_passes lies between 1 and gate.guard_tries")
        if self.least_clusters < 1 or self.won_clusters < 1 or self.most_pairs < 1:
            raise ValueError("gate.least_clusters, won_clusters and most_pairs are at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is fixed before the first pair of a draft."""

    policy: Policy
    certify: Certify
    share: float
    """The part of alpha that this draft may spend (`alpha_share`)."""
    clusters: int
    """How many target clusters there are."""
    skill: str | None = None
    """The skill that the draft edits: one that was never loaded was not examined."""

    @property
    def margin(self) -> float:
        return self.policy.margin if self.certify is Certify.NOT_WORSE else 0.0

    @property
    def clusters_to_win(self) -> int:
        return min(self.policy.won_clusters, self.clusters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A word of the gate with its reason. `accept` still has to pass the guards."""

    kind: VerdictKind
    code: VerdictCode
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All that `decide` needs to know of the target pairs so far."""

    wealth: Wealth
    pairs: int = 0
    better: int = 0
    worse: int = 0
    base_passed: int = 0
    """Pairs in which the base scored full."""
    alive: bool = False
    """Whether any arm ever scored above 0."""
    unloaded: int = 0
    """Pairs in which the draft's trial did not load the skill that it edits."""
    totals: Mapping[str, float] = field(default_factory=dict)
    """Summed d (plus the margin, where there is one) of each cluster that was drawn."""
    alike: Mapping[str, int] = field(default_factory=dict)
    """Of each cluster that was drawn and never told the arms apart: in how many pairs."""

    @classmethod
    def start(cls, terms: Terms) -> Tally:
        return cls(wealth=Wealth(terms.margin))

    @property
    def decided(self) -> int:
        return self.better + self.worse

    @property
    def won(self) -> int:
        return sum(total > 0 for total in self.totals.values())

    def after(self, cluster: str, base: float, draft: float, *, loaded: bool | None = None) -> Tally:
        d = draft - base
        wealth = self.wealth.after(d)
        alike = {**self.alike}
        if d == 0 and (cluster in alike or cluster not in self.totals):
            alike[cluster] = alike.get(cluster, 0) + 1
        elif d != 0:
            alike.pop(cluster, None)
        return Tally(
            wealth=wealth,
            pairs=self.pairs + 1,
            better=self.better + (d > 0),
            worse=self.worse + (d < 0),
            base_passed=self.base_passed + (base >= 1),
            alive=self.alive or base > 0 or draft > 0,
            unloaded=self.unloaded + (loaded is False),
            totals={**self.totals, cluster: self.totals.get(cluster, 0.0) + d + wealth.margin},
            alike=alike,
        )

    def told(self) -> str:
        same = self.pairs - self.decided
        pairs = counted(self.pairs, "pair")
        return f"{pairs}: draft better in {self.better}, worse in {self.worse}, alike in {same}"


def decide(tally: Tally, terms: Terms) -> Ruling | None:
    """The ruling after these pairs; None: go on. What a skill that was never loaded showed, be it good or
    bad, is not its doing."""
    ruling = _decided(tally, terms)
    if ruling is None and tally.pairs < terms.policy.unloaded_after:
        return None
    return never_triggered(terms, tally.pairs, tally.unloaded) or ruling


def never_triggered(terms: Terms, pairs: int, unloaded: int) -> Ruling | None:
    """Invalid where the draft's trials never loaded the skill that it edits."""
    if terms.skill is None or not 0 < pairs == unloaded:
        return None
    text = (
        f"the agent did not load the skill {terms.skill} in any of {counted(pairs, 'try', 'tries')} with the "
        "edit, so the edit could not show: say in the description of its SKILL.md when to use it, or name "
        "the skill in what you ask, then run again"
    )
    return Ruling(kind=VerdictKind.INVALID, code="never-triggered", why=text)


def _decided(tally: Tally, terms: Terms) -> Ruling | None:
    policy, wealth = terms.policy, tally.wealth.value
    if wealth >= 1 / terms.share and tally.won >= terms.clusters_to_win:
        return Ruling(kind=VerdictKind.ACCEPT, code="enough-wealth", why=_accepted(tally, terms))
    if tally.decided >= policy.reject_after and wealth < policy.reject_below:
        text = f"the evidence fell to {figures(wealth)}, below {policy.reject_below:g}; {tally.told()}"
        return Ruling(kind=VerdictKind.REJECT, code="low-wealth", why=text)
    if tally.pairs < policy.blind_after:
        return None
    if terms.certify is Certify.GAIN and tally.base_passed == tally.pairs:
        text = (
            f"without the draft all {tally.pairs} tries on the targets passed already: "
            "there is no gain that this exam could see"
        )
        return Ruling(kind=VerdictKind.INVALID, code="base-passes-all", why=text)
    # "Not worse" wants both arms to pass alike; it is blind only where neither ever passes anything.
    blind = tally.decided == 0 if terms.certify is Certify.GAIN else not tally.alive
    if blind:
        text = f"in {counted(tally.pairs, 'pair')} no check told base and draft apart"
        return Ruling(kind=VerdictKind.INVALID, code="checks-blind", why=text)
    return None


def _accepted(tally: Tally, terms: Terms) -> str:
    aim = f"not worse by more than {terms.margin:g}: " if terms.margin else ""
    narrow = ""
    if terms.clusters < terms.policy.won_clusters:
        narrow = "; these are few kinds: it may not hold for others"
    return (
        f"{aim}the evidence reached {figures(tally.wealth.value)}, {figures(1 / terms.share)} was needed; "
        f"{tally.told()}; better in {tally.won} of {counted(terms.clusters, 'kind')} of task{narrow}"
    )


def walk(pairs: Sequence[Pair], terms: Terms) -> tuple[Tally, Ruling | None, tuple[float, ...]]:
    """Go through the target pairs in the order of their draws and stop at the first ruling.

    Several pairs may be tried at once; those behind the ruling are on record but are not looked at,
    so that how many ran at once decides nothing. Also gives the wealth after each pair, from 1.
    """
    tally, path = Tally.start(terms), [1.0]
    for pair in sorted(pairs, key=lambda pair: pair.draw):
        tally = tally.after(pair.cluster, pair.base_score, pair.draft_score, loaded=pair.loaded)
        path.append(tally.wealth.value)
        ruling = decide(tally, terms)
        if ruling is not None:
            return tally, ruling, tuple(path)
    return tally, None, tuple(path)


def compared(pairs: Sequence[Pair], terms: Terms) -> Tally:
    """All of these pairs counted, where nothing is bet on them."""
    tally = Tally.start(terms)
    for pair in pairs:
        tally = tally.after(pair.cluster, pair.base_score, pair.draft_score, loaded=pair.loaded)
    return tally


def silent_kinds(tally: Tally, terms: Terms) -> frozenset[str]:
    """Kinds of task that are not won, and in which enough pairs were tried, all alike."""
    enough = (kind for kind, pairs in tally.alike.items() if pairs >= terms.policy.kind_after)
    return frozenset(kind for kind in enough if tally.totals[kind] <= 0)


def kinds_missing(tally: Tally, terms: Terms) -> Ruling | None:
    """Where the evidence is there and only kinds of task are left to be won that show nothing: more pairs
    would be spent for hardly anything. Stopping costs power and no promise, as anywhere in a test by betting.
    """
    lacking, silent = terms.clusters_to_win - tally.won, silent_kinds(tally, terms)
    enough = tally.wealth.value >= 1 / terms.share
    if not enough or lacking <= 0 or terms.clusters - len(silent) >= terms.clusters_to_win:
        return None
    kinds = counted(lacking, "more kind")
    text = (
        f"the evidence is there ({figures(tally.wealth.value)}, {figures(1 / terms.share)} was needed), "
        f"but {kinds} of task must be won: it is better in {tally.won} of {terms.clusters_to_win}, and in "
        f"{counted(len(silent), 'kind')} every pair came out alike, so no more are tried; {tally.told()}"
    )
    return Ruling(kind=VerdictKind.UNDECIDED, code="kinds-missing", why=text)


def so_far(tally: Tally, terms: Terms) -> str:
    """How far an exam came that nothing decided yet."""
    needed, kinds = 1 / terms.share, terms.clusters_to_win
    lacks = ""
    if tally.wealth.value >= needed and tally.won < kinds:
        seen = f"better in {tally.won} of {counted(terms.clusters, 'kind')} of task only"
        lacks = f", but {seen}, {kinds} are needed"
    return f"evidence {figures(tally.wealth.value)} of {figures(needed)}{lacks}; {tally.told()}"


def pairs_ended(tally: Tally, terms: Terms) -> Ruling:
    """The ruling where a draft had all pairs that it gets."""
    text = f"no decision after {terms.policy.most_pairs} pairs, the most that a draft gets"
    return Ruling(kind=VerdictKind.UNDECIDED, code="pairs-ended", why=f"{text}; {so_far(tally, terms)}")


def pairs_needed(tally: Tally, terms: Terms) -> int:
    """The fewest pairs in which an accept could still come."""
    return max(wins_needed(terms.share, tally.wealth), terms.clusters_to_win - tally.won)


def before(
    terms: Terms, tally: Tally, *, begun: bool = False, pairs_left: int, overlap: str | None
) -> Ruling | None:
    """What can be said before anything is spent; None: begin, or go on with a wealth of before.

    `begun`: alpha was spent on this draft already, so that a small budget only postpones it.
    """
    if overlap is not None:
        return Ruling(kind=VerdictKind.INVALID, code="overlap", why=overlap)
    if terms.policy.mode == "off":
        return Ruling(kind=VerdictKind.UNDECIDED, code="gate-off", why="the gate is off: nothing was tried")
    suggest = terms.policy.mode == "suggest"
    least = 1 if suggest else terms.policy.least_clusters
    if terms.clusters < least:
        have = "no held-out task shows" if terms.clusters == 0 else f"held-out tasks of {terms.clusters} show"
        text = f"{have} this correction; the gate needs tasks from {counted(least, 'session')} or more"
        return Ruling(kind=VerdictKind.UNDERPOWERED, code="few-targets", why=text)
    need = 1 if suggest else pairs_needed(tally, terms)
    if not begun and pairs_left < need:
        text = f"the budget allows {counted(pairs_left, 'pair')}, and even without one miss {need} are needed"
        return Ruling(kind=VerdictKind.UNDERPOWERED, code="few-pairs", why=text)
    return None


def overlap(holdout: Sequence[Task], train: Sequence[Task], shown: Iterable[str]) -> str | None:
    """Where train and hold-out are not apart: by id, session, cluster or prompt. None: they are.

    `shown` are the sessions that the editor's evidence came from.
    """
    for task in holdout:
        if task.split is not Split.HOLDOUT:
            return f"task {task.id} is a train task and cannot sit in the hold-out"
    trained = {key: task for task in train for key in _marks(task)} | {("session", s): None for s in shown}
    for task in holdout:
        for mark in _marks(task):
            if mark in trained:
                return f"train and hold-out overlap: held-out task {task.id} has the same {mark[0]} as train"
    return None


def _marks(task: Task) -> tuple[tuple[str, str], ...]:
    prompt = " ".join(task.prompt.casefold().split())
    return ("id", task.id), ("session", task.session), ("cluster", task.cluster), ("prompt", prompt)


def loss_verdict(losses: Losses, policy: Policy) -> Ruling | None:
    """Whether the losses forbid a verdict: they fall on one arm, or there are too many of them.

    The two trials of a pair run side by side, so the exact test asks how the losses of a single arm fall
    (McNemar's): where the arm has nothing to do with it, each side has the same chance.
    """
    chance = even_odds_p(losses.base_only, losses.draft_only)
    if chance < policy.loss_level:
        text = (
            f"losses differ between the arms: {losses.base_only} of base alone, {losses.draft_only} of draft "
            f"alone, in {losses.tried} pairs (exact two-sided test: {chance:.2g})"
        )
        return Ruling(kind=VerdictKind.INVALID, code="losses-differ", why=text)
    return many_losses(losses, policy)


def many_losses(losses: Losses, policy: Policy) -> Ruling | None:
    """Whether it is no use to go on for now. The comparison of the arms is made at the end, once: a 5 %
    test that is asked after every pair is none."""
    if losses.lost >= policy.lost_least and losses.lost > policy.lost_share * losses.tried:
        tried = counted(losses.tried, "pair")
        text = f"{losses.lost} of {tried} lost outside the agent's work: nothing is decided"
        return Ruling(kind=VerdictKind.UNDECIDED, code="many-losses", why=text)
    return None
