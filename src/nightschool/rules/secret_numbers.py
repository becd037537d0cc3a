"""Numbers of cards and of bank accounts, by their check digits. Relieves `secret_scan` of the arithmetic."""

from __future__ import annotations

import re2

_CARDS = tuple(
    re2.compile(pattern)
    for pattern in (
        rb"[2-6][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}",
        rb"3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}",
        rb"[2-6][0-9]{12,18}",
    )
)
_NETWORKS = re2.compile(
    rb"4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2(?:2[2-9]|[3-6][0-9]|7[01])[0-9]{13}|2720[0-9]{12}"
    rb"|3[47][0-9]{13}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35[0-9]{14}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    rb"|62[0-9]{14,17}"
)


def is_card_number(text: bytes, start: int) -> int:
    """The length of the card number that begins here and ends at no further digit; 0 where none does."""
    for pattern in _CARDS:
        found = pattern.match(text, start)
        if found is None or text[found.end() : found.end() + 1].isalnum():
            continue
        digits = found.group().translate(None, b" -")
        if _NETWORKS.fullmatch(digits) is not None and _luhn(digits):
            return int(found.end() - start)
    return 0


_IBAN_LENGTHS: dict[bytes, int] = {
    country.encode(): length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FO FI GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ DJ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
_IBAN_RUN = re2.compile(rb"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}")


def is_account_number(text: bytes, start: int) -> int:
    """The length of the IBAN that begins here and ends at no further letter or digit; 0 where none does."""
    length = _IBAN_LENGTHS.get(text[start : start + 2], 0)
    found = _IBAN_RUN.match(text[start : start + 48])
    if not length or found is None:
        return 0
    run = found.group()
    ends = [at + 1 for at in range(len(run)) if run[at] != 0x20]
    if len(ends) < length or text[start + ends[length - 1] : start + ends[length - 1] + 1].isalnum():
        return 0
    at = ends[length - 1]
    piece = run[:at]
    plain = piece.replace(b" ", b"")
    digits = "".join(str(int(letter, 36)) for letter in (plain[4:] + plain[:4]).decode("ascii"))
    return at if int(digits) % 97 == 1 else 0


def _luhn(digits: bytes) -> bool:
    total = 0
    for index, byte in enumerate(reversed(digits)):
        value = byte - 48
        if index % 2:
            value = 2 * value - 9 * (value > 4)
        total += value
    return total % 10 == 0
