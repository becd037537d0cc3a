"""Takes statements over from the bank."""

COLUMNS = ("day", "text", "amount")
