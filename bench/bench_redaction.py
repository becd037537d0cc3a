"""Redaction: MB/s on text of several kinds, and how the time grows with the length (1.0 is linear).

To reach: 10 MB of the worst text in a second.

python bench/bench_redaction.py [MEGABYTES]
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from nightschool.rules.redaction import Redactor

TO_REACH = 10
"""MB in a second."""
_PROSE = (
    "I ran the tests with pnpm and two of them fail: the token bucket in src/limiter.ts is shared between\n"
    "requests. Let me look at 3f786850e387550fdab836ed7e6dc881de23001b and at the config, port: 8080.\n"
    "def refill(self, now: float) -> None:\n    self.tokens = min(self.capacity, self.tokens + now)\n"
)
_PIECES = ["sk-", "ghp_", "token", "secret_", "AKIA", "eyJ", "://", "a:", "@a.", "4", "=", " ", "-----BEGIN "]


def _repeated(text: str) -> Callable[[int], str]:
    return lambda size: (text * (size // len(text) + 1))[:size]


def _shuffled(size: int) -> str:
    source = random.Random(7)
    return "".join(source.choices(_PIECES, k=size // 3))[:size]


def _distinct_keys(size: int) -> str:
    return "".join(f"ghp_{index:036d}a\n" for index in range(size // 42))


KINDS: dict[str, Callable[[int], str]] = {
    "prose and code": _repeated(_PROSE),
    "A-": _repeated("A-"),
    "one word": _repeated("a"),
    "sk-": _repeated("sk-"),
    "-eyJ": _repeated("-eyJaaaaaaaaaa"),
    "a@": _repeated("a@"),
    "://a:b": _repeated("://a:b"),
    "password=": _repeated("password="),
    'password="': _repeated('password="'),
    "BEGIN without END": _repeated("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n"),
    "END without BEGIN": _repeated("-----END PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n"),
    "digits": _repeated("41111111111111112 "),
    "shuffled beginnings": _shuffled,
    "the same key": _repeated("sk-ant-api03-abcdefghijkl0123456789 "),
    "assignments": _repeated("DB_PASSWORD=hunter2xyz\n"),
    "addresses": _repeated("jane@corp.io "),
    "distinct keys": _distinct_keys,
}


def _seconds(text: str) -> float:
    redactor = Redactor(b"a key for the bench only, 32 byte")
    start = time.perf_counter()
    redactor(text)
    return time.perf_counter() - start


def main() -> None:
    size = int(float(sys.argv[1]) * 1_000_000) if len(sys.argv) > 1 else 10_000_000
    print(f"{'text':22} {'seconds':>8} {'MB/s':>8} {'of the time to reach':>20} {'growth':>7}")
    for name, make in KINDS.items():
        small, whole = make(size // 4), make(size)
        _seconds(small[:50_000])
        quarter, full = _seconds(small), _seconds(whole)
        rate = size / 1e6 / full
        print(f"{name:22} {full:8.3f} {rate:8.1f} {TO_REACH / rate:20.2f} {full / quarter / 4:7.2f}")


if __name__ == "__main__":
    main()
