"""One statement: the rows of one month."""

import csv
from collections.abc import Iterable


def rows(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(lines))
