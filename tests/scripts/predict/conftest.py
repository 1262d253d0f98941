"""Fixtures of a tiny setting of study `predict`."""

from predict_pipeline import results, run, table  # noqa: F401
