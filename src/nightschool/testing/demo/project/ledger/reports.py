"""What the shop's owner reads."""


def line(text: str, cents: int) -> str:
    return f"{text:<30} {cents / 100:>10.2f}"
