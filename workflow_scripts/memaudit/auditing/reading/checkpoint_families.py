"""Families of in-context checkpoints that an audit knows, and the limit of their attention."""

FAMILIES = ("tabicl", "tabpfn")
ATTENTION_CLASSES = 10  # of both in mode raw
