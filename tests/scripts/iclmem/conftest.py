"""Fixtures of probes of a small model on tables of wines."""

from planted_probes import judged  # noqa: F401
from wine_probes import reference, tuned, world  # noqa: F401
