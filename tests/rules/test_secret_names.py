"""Files whose names say that they hold secrets."""

from __future__ import annotations

import pytest

from nightschool.rules.secret_names import holds_secrets


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.local",
        ".env-production",
        ".envrc",
        "prod.env",
        ".netrc",
        ".npmrc",
        ".aws/credentials",
        "id_ed25519",
        "tls/server.key",
        "cert.PEM",
        "credentials.json",
        "config/client_secret_12.json",
        "secrets.yaml",
        "service-account-prod.json",
        "prod.tfvars",
    ],
)
def test_names_of_secrets_are_known(path: str) -> None:
    """Wherever the file lies and however its name is written."""
    assert holds_secrets(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "app/.env.sample",
        "env.py",
        "environment.yaml",
        "src/secrets.py",
        "docs/credentials.md",
        "keys.ts",
        "id_rsa.pub",
        "monkey.json",
        "package.json",
        "tokens.css",
    ],
)
def test_other_names_are_not(path: str) -> None:
    """A sample, a program and a page about them hold none."""
    assert not holds_secrets(path)
