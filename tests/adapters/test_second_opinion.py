"""detect-secrets as a second opinion: on text alone, asking nobody."""

from __future__ import annotations

import socket
import sys

import pytest

from nightschool.adapters.second_opinion import LONGEST, DetectSecrets
from nightschool.core.errors import UserError

KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("it asks over the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"- pay with {KEY}", "Stripe Access Key"),
        ("- log in with password = 'correct-horse-9'", "Secret Keyword"),
        ("- fetch https://ada:hunter22@host.example/x", "Basic Auth Credentials"),
        ("- AKIAIOSFODNN7EXAMPLE  # pragma: allowlist secret", "AWS Access Key"),
        ("- use 'nGsT2VkX1/0qvRb3+eAq9mJ5Zw8yL6Pc'", "Base64 High Entropy String"),
    ],
)
def test_it_knows_what_it_knows(line: str, kind: str) -> None:
    """Each kind is named with the secret itself, also where a comment in the line says to allow it."""
    assert kind in {found for found, _ in DetectSecrets()(line)}


@pytest.mark.parametrize(
    "line",
    [
        "- Use pnpm, not npm.",
        "- the secret is to mock the clock at 44.55.66.77",
        "- never run `deploy_everything_in_production_now`",
        "- see commit 4f3c2a1b9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a",
        "",
    ],
)
def test_plain_rules_are_no_secrets(line: str) -> None:
    """Words, addresses, paths and unquoted names of commits pass."""
    assert list(DetectSecrets()(line)) == []


def test_a_secret_far_down_a_long_line_is_found() -> None:
    """A long line is looked at in pieces, and none of it lies between two of them."""
    ask = DetectSecrets()
    for before in range(LONGEST - len(KEY) - 4, LONGEST + 4):
        assert ("Stripe Access Key", KEY) in ask(" " * before + KEY)


def test_without_the_package_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra that is missing is an error that says how to get it, never a check less."""
    monkeypatch.setitem(sys.modules, "detect_secrets.core.plugins.util", None)
    with pytest.raises(UserError, match=r'pip install "nightschool\[scan\]"'):
        DetectSecrets()
