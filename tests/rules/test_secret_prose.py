"""Secrets that people name in a sentence."""

from __future__ import annotations

import json

import pytest

from nightschool.rules.redaction import Redactor

KEY = b"k" * 32
WORD, HEX, FORTY = (
    "Wq8-tuLip!44",
    "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "kJ8s0Pq2Vb6Xn4Tz7Ry1Lm3Wd5Gh9Fc0Ua2Se4Qx",
)
SAID = (
    f"Das Passwort für das Testkonto ist {WORD}",
    f"Das Kennwort für den FTP-Zugang lautet {WORD}",
    f"das Passwort lautet jetzt {WORD}",
    f"Mein Passwort heißt {WORD}",
    f"neues Passwort {WORD}",
    f"Zugangsdaten: jonas / {WORD}",
    f"login jonas, pw {WORD}",
    f"pw: {WORD}",
    f"PW={WORD}",
    f"the password for the test account is {WORD}",
    f"password of the db is {WORD}",
    f"sudo: mara / {WORD}",
    f"Zugangsdaten: mara@lind.example, Kennwort {WORD}",
    f"le mot de passe est {WORD}",
    f"der Token dbt: dbtc_{HEX}",
    f"Der API-Schlüssel lautet {HEX}",
    f"use the key {HEX} for the mails",
    f"aws key AKIAQ3EGRP4XKZ7LM2VT / {FORTY}",
    "PIN ist 4711-99",
    "PIN 4711 for the door",
)
USUAL = ("Summer2024", "hunter22", "Admin123", "Passwort1", "Winter2023!", "geheim123")
CALLED = ("the password for staging is {}", "Zugangsdaten: admin / {}", "login admin, pw {}", "pw: {}")
SECRETS = (WORD, HEX, FORTY, "4711", *USUAL)
ORDINARY = (
    "the password is stored in AES-256, see docs/security.md",
    "reset the password, then run v2.1.3",
    "the token is checked in auth.py, line 42",
    "login is broken since 3.11.2",
    "the password field is 32px wide",
    "password reset-2fa is behind a flag",
    "sudo apt-get install python3.11",
    "token: see RFC6750",
    "login: user-42 could not sign in",
    "the key 12 of the map",
    "pin the version to 20240611",
    "pin 1234 items",
    "GPIO pin 1000 high",
    "pin 20240611 of the sensor",
    "cache key d41d8cd98f00b204e9800998ecf8427e of the build",
    "The commit key d41d8cd98f00b204e9800998ecf8427e was reverted",
    "Der Schlüssel ist Base64-kodiert",
    "The login is SAML2.0-based",
    "login: H1-Tag zu B2B",
    "schlüssel: id_ed25519",
    "sudo is used: pip3-install",
    'the row says {"type":"login","leafUuid":"48012a64-b448-4843-884b-d9a08e7dacc2"}',
)


@pytest.mark.parametrize("sentence", [*SAID, *(call.format(word) for call in CALLED for word in USUAL)])
def test_what_a_sentence_names_is_replaced(sentence: str) -> None:
    """By itself, among other sentences, and where it lies in JSON; a second time nothing changes."""
    for text in (sentence, f"Deploy it.\n{sentence}. Then tell me.", json.dumps({"text": f"a\n{sentence}"})):
        redact = Redactor(KEY)
        told = redact(text)
        assert not [secret for secret in SECRETS if secret in told], told
        assert "[secret:" in told
        assert redact(told) == told
    assert json.loads(Redactor(KEY)(json.dumps([sentence]))) == [Redactor(KEY)(sentence)]


@pytest.mark.parametrize("sentence", ORDINARY)
def test_sentences_about_security_stay(sentence: str) -> None:
    """A version, a path, a file, a count and an address behind such a word are none."""
    assert Redactor(KEY)(sentence) == sentence


def test_numbers_and_words_are_not_remembered() -> None:
    """What was a secret in its sentence may be an ordinary number or word elsewhere."""
    redact = Redactor(KEY)
    assert "4711" not in redact("PIN 4711 for the door")
    assert "geheim123" not in redact("pw geheim123")
    assert redact("order 4711 of geheim123 pages") == "order 4711 of geheim123 pages"
