"""Copies of statements, made before they are read."""

KEEP = 12
