"""What takes longer than a test may: `python -m soak [--part GROUP] [--seed N] [--share N] [--case N]`.

Prints a Markdown table; ends with 1 where anything failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from soak.cases import Result, markdown, run
from soak.parts import GROUPS, PARTS


def main() -> int:
    options = _options()
    results: list[Result] = []
    for part in PARTS:
        if options.part not in {"all", part.group}:
            continue
        began = time.monotonic()
        one = options.case is not None
        result = run(
            part,
            seed=options.seed,
            first=options.case or 0,
            cases=1 if one else -(-part.cases // options.share),
            width=1 if one else options.width,
        )
        results.append(result)
        took = time.monotonic() - began
        _tell(f"{part.name}: {result.cases} cases, {len(result.failures)} failures, {took:.0f} s")
        for failure in result.failures[:10]:
            _tell(failure)
    sys.stdout.write("\n".join(markdown(results)) + "\n")
    return any(result.failures for result in results)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m soak")
    parser.add_argument("--part", default="all", choices=("all", *GROUPS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=int, default=1, help="run one case in so many")
    parser.add_argument("--case", type=int, default=None, help="run this case alone")
    parser.add_argument("--width", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _tell(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
