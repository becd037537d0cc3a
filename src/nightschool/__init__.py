"""Nightschool: learn from corrections, prove it, publish it, undo it."""
