"""Fuzzing of every transcript source that is led by what of the code an input reaches.

make fuzz [RUNS=20000]

Needs atheris, which is no dependency: `make fuzz` puts it below build/. The first byte of an input chooses
a sample of `tests/source_samples.py`, the others are its file. It begins with the samples as they are, and
asserts what `soak.hostile` does: nothing is raised, what is left out is told, nothing is written.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def main() -> None:
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["nightschool.adapters", "nightschool.rules"]):
        hostile: Any = importlib.import_module("soak.hostile")
        samples: Any = importlib.import_module("source_samples")
    made = samples.sources(str)
    with TemporaryDirectory(prefix="nightschool-fuzz-") as name:
        folder, corpus = Path(name) / "home", Path(name) / "corpus"
        corpus.mkdir()
        places = []
        for number, sample in enumerate(samples.SAMPLES):
            own = folder / str(number)
            own.mkdir(parents=True)
            places.append(sample.lay(own, sample.rows))
            (corpus / str(number)).write_bytes(bytes([number]) + places[-1].read_bytes())

        def one(content: bytes) -> None:
            number = content[0] % len(places) if content else 0
            places[number].write_bytes(content[1:])
            hostile.read_below(made[samples.SAMPLES[number].source], folder / str(number))

        atheris.Setup([*sys.argv, str(corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
