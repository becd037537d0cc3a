"""What models are told: one Markdown file a role, with a front matter that names role and reply."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from string import Template

from nightschool.core.values import Digest, Value, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Value):
    """A prompt as it is shipped. `version` is the digest of its text and part of a job's key."""

    role: str
    reply: str
    text: str

    @property
    def version(self) -> Digest:
        return digest_of(self.text)

    def render(self, **inputs: object) -> str:
        """The text with each `$name` filled. A missing or an unknown input is an error."""
        template = Template(self.text)
        wanted = set(template.get_identifiers())
        if wanted != set(inputs):
            raise ValueError(f"prompt {self.role} takes {sorted(wanted)}, not {sorted(inputs)}")
        return template.substitute({name: str(value) for name, value in inputs.items()})


def load(role: str) -> Prompt:
    """The prompt of a role."""
    text = resources.files(__package__).joinpath(f"{role}.md").read_text(encoding="utf-8")
    head, _, body = text.partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return Prompt(role=fields["role"], reply=fields["reply"], text=body)
