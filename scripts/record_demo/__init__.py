"""Remakes the demo's sessions: `python -m scripts.record_demo.record` from the project's root."""
