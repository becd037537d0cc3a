"""Reads statements and adds them up."""
