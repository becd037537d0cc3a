"""Where statements lie."""

SUFFIX = ".csv"
