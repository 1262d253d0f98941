"""Fixtures of probes of a small model on tables of wines."""

from wine_probes import reference, tuned, world  # noqa: F401
