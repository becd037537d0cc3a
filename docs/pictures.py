"""Draws the pictures of how-it-decides.md: simulated exams through the very code that decides.

    make docs

The same seed gives the same pictures; tests/test_docs.py compares.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from nightschool.core.proposals import Certify, VerdictKind
from nightschool.rules.betting import alpha_share
from nightschool.rules.calibration import Arms, Scene, Simulated, one_draft
from nightschool.rules.curves import curve
from nightschool.rules.gate import Policy, Terms
from nightschool.rules.pairing import stream

FOLDER = Path(__file__).parent / "pictures"
SEED = 4
SIMULATED = 500
OTHERS = 8
"""So many further exams are drawn thinly behind the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    name: str
    title: str
    scene: Scene

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.svg"


PICTURES = (
    Picture(
        name="good-edit", title="An edit that helps", scene=Scene(arms=Arms.HELPED, base=0.3, effect=0.5)
    ),
    Picture(
        name="useless-edit", title="An edit that changes nothing", scene=Scene(arms=Arms.IDENTICAL, base=0.5)
    ),
    Picture(
        name="harmful-edit", title="An edit that harms", scene=Scene(arms=Arms.HELPED, base=0.7, effect=-0.4)
    ),
)
POLICY = Policy()
SHARE = alpha_share(POLICY.alpha, 1)


def exams(picture: Picture) -> list[Simulated]:
    """Simulated exams of such an edit, each as the first that is tried on its tasks."""
    scene = picture.scene
    terms = Terms(policy=POLICY, certify=Certify.GAIN, share=SHARE, clusters=scene.clusters)
    names = [f"cluster {number}" for number in range(scene.clusters)]
    random = stream("pictures", SEED, picture.name)
    return [one_draft(terms, scene, names, random) for _ in range(SIMULATED)]


def files() -> dict[Path, str]:
    """Each picture with its content."""
    drawn = {}
    for picture in PICTURES:
        first, *others = (exam.path for exam in exams(picture)[: 1 + OTHERS])
        drawn[picture.file] = curve(first, needed=1 / SHARE, others=others, alone=True).text + "\n"
    return drawn


def block() -> str:
    """The pictures with their figures, for the page."""
    lines = []
    for picture in PICTURES:
        scene, simulated = picture.scene, exams(picture)
        kinds = Counter(exam.kind for exam in simulated)
        open_ones = SIMULATED - kinds[VerdictKind.ACCEPT] - kinds[VerdictKind.REJECT]
        shares = {
            "passed": kinds[VerdictKind.ACCEPT],
            "failed": kinds[VerdictKind.REJECT],
            f"open after {POLICY.most_pairs} pairs": open_ones,
        }
        told = ", ".join(f"{count} {what}" for what, count in shares.items())
        mean = sum(exam.pairs for exam in simulated) / SIMULATED
        lines += [
            f"**{picture.title}.** Without it the agent does it right in {scene.base:.0%} of the tries, "
            f"with it in {scene.base + scene.effect:.0%}. Of {SIMULATED} simulated exams {told}; "
            f"{mean:.0f} pairs in the mean.",
            "",
            f"![{picture.title}: the evidence pair by pair](pictures/{picture.file.name})",
            "",
        ]
    return "\n".join(lines).strip()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for file, content in files().items():
        if not file.exists() or file.read_text(encoding="utf-8") != content:
            file.write_text(content, encoding="utf-8")
            print(f"wrote docs/{file.relative_to(FOLDER.parent)}")


if __name__ == "__main__":
    main()
