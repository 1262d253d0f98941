"""The small TabICL that the repository ships, for benchmarks."""

from memaudit.common.project_paths import PROJECT

SHIPPED = PROJECT / "resources/tabicl-small/tabicl-small.ckpt"
SHIPPED_CARD = {"task": "classification", "version": None, "options": {"clip": 6.0}}
