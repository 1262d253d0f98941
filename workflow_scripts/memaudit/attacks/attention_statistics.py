"""Names of the statistics of attention that `attention_signals`, which needs torch, computes."""

LARGEST, GAP, ENTROPY = STATISTICS = ("largest", "gap", "entropy")
