"""Parts sessions into train and hold-out, before anything is mined from them, once and for ever.

Text that an editor sees comes from train sessions; hold-out sessions lend only tasks. No outcome of any
trial is looked at here, and what was said in a session decides nothing but which topic it counts for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nightschool.core.sessions import Session, Speaker
from nightschool.core.tasks import Assignment, Split
from nightschool.core.values import Value, digest_of
from nightschool.rules.alike import alike_groups, overlap
from nightschool.rules.prose import is_acknowledgement, is_injected, request_text, tokens

ALIKE = 0.9
"""Overlap of words from which two first prompts ask for the same work."""
ENOUGH = 2
"""Train clusters that a correction needs; the rest goes to the hold-out."""
ONE_IN = 5
"""Of the clusters without a correction every fifth is for training, the rest are guards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(Value):
    """One session, or several whose first prompts are nearly the same."""

    id: str
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits(Value):
    """All assignments, known ones first, and the sessions that could not be given to either side."""

    assignments: tuple[Assignment, ...]
    new: tuple[Assignment, ...]
    straddling: tuple[str, ...]
    """They are like a train session and like a hold-out session: they serve neither."""

    def homes(self) -> dict[str, Assignment]:
        """The assignment of each session."""
        return {session: assignment for assignment in self.assignments for session in assignment.sessions}


def clusters(
    sessions: Iterable[Session], brought: Mapping[str, str] = MappingProxyType({})
) -> tuple[Cluster, ...]:
    """The sessions that a person had, in clusters. The same correction does not make a cluster.

    `brought` are the prompts of tasks from files, by the id that stands for a session of theirs.
    The result does not depend on the order of the sessions.
    """
    prompts = {
        session.id: first_prompt(session)
        for session in sessions
        if not (session.headless or session.sidechain or session.ours)
    } | {**brought}
    groups = alike_groups({name: tokens(prompt) for name, prompt in prompts.items()}, ALIKE)
    return tuple(Cluster(id=_cluster_id(group), sessions=group) for group in groups)


def first_prompt(session: Session) -> str:
    """The first thing that the person asked for; "" where there is none."""
    for turn in session.turns:
        if turn.speaker is Speaker.HUMAN and not is_injected(turn.text) and not is_acknowledgement(turn.text):
            return request_text(turn.text)
    return ""


def asks_alike(one: str, other: str) -> bool:
    """Whether two prompts ask for the same work, so that they may not stand on different sides."""
    return one.casefold().split() == other.casefold().split() or overlap(tokens(one), tokens(other)) >= ALIKE


def assign(
    found: Iterable[Cluster], topics: Mapping[str, frozenset[str]], known: Sequence[Assignment]
) -> Splits:
    """Give each cluster to one side. `topics`: the corrections that each cluster holds, by its id.

    In the order of a hash, a cluster goes to train if it holds a correction with fewer than two train
    clusters, else to the hold-out; of those without a correction one in five goes to train. What is
    assigned never moves: sessions that join a known cluster take its split, and those that would join a
    train cluster to a hold-out cluster are left out of both.
    """
    ordered = sorted(found, key=lambda cluster: (digest_of(cluster.id), cluster.id))
    home = {session: assignment for assignment in known for session in assignment.sessions}
    taught: Counter[str] = Counter()
    for cluster in ordered:
        if any(home[s].split is Split.TRAIN for s in cluster.sessions if s in home):
            taught.update(topics.get(cluster.id, frozenset()))
    new: list[Assignment] = []
    straddling: list[str] = []
    for cluster in ordered:
        homes = {home[s].cluster: home[s].split for s in cluster.sessions if s in home}
        fresh = tuple(sorted(s for s in cluster.sessions if s not in home))
        if not fresh:
            continue
        if len(set(homes.values())) > 1:
            straddling += fresh
            continue
        if homes:
            name = min(homes)
            new.append(Assignment(cluster=name, split=homes[name], sessions=fresh))
            continue
        about = topics.get(cluster.id, frozenset())
        split = side(cluster.id, about, taught)
        if split is Split.TRAIN:
            taught.update(about)
        new.append(Assignment(cluster=cluster.id, split=split, sessions=fresh))
    return Splits(assignments=(*known, *new), new=tuple(new), straddling=tuple(sorted(straddling)))


def side(cluster: str, about: frozenset[str], taught: Mapping[str, int]) -> Split:
    """The side of a new cluster. `taught`: how many train clusters each correction has by now."""
    if about:
        return Split.TRAIN if any(taught.get(topic, 0) < ENOUGH for topic in about) else Split.HOLDOUT
    return Split.TRAIN if int(digest_of(cluster, "guard")[:8], 16) % ONE_IN == 0 else Split.HOLDOUT


def _cluster_id(group: Sequence[str]) -> str:
    return "s-" + digest_of(min(group))[:12]
