"""Fixtures of the study LT-MIA on tiny corpora."""

from ltmia_pipeline import combinations, made, pair  # noqa: F401
