"""Print the AUC of every statistic of attention in every block, on scikit-learn's tables with the shipped model.

python workflow_scripts/maintenance/choose_attention_signal.py --sets 32 --tables wine breast_cancer

The columns are the AUC without shadow contexts, and calibrated by the other contexts. Block and statistics of
`memaudit.attacks.attention_signals` have the largest means over these tables.
"""

import argparse

import numpy as np
import torch

from memaudit.attacks.attention_signals import geometric_mean, of_log_weights
from memaudit.attacks.attention_statistics import STATISTICS
from memaudit.attacks.calibrate import calibrate
from memaudit.data.membership_matrices import balanced
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.statistics import roc
from memaudit.studies.attacks.public_tables import SEED, TABLES, records

NAMES = [f"{heads} {name}" for heads in ("arithmetic", "geometric") for name in STATISTICS] + ["mass on the label"]


def main(tables: list[str], sets: int) -> list[tuple[str, int, str, float, float]]:
    """Rows of table, block, statistic, AUC uncalibrated and AUC calibrated, printed as they are made."""
    model, rows = TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"), []
    for table in tables:
        found, membership = statistics_of(model, *records(table), sets)
        for block, name in np.ndindex(found.shape[2:]):
            values = found[..., block, name]
            areas = [roc.auc(values, membership), roc.auc(calibrate(values, membership, "lira_shrunk"), membership)]
            rows.append((table, block, NAMES[name], *areas))
            print(f"{table:14} block {block}  {NAMES[name]:20} {areas[0]:.3f} {areas[1]:.3f}", flush=True)
    return rows


@torch.inference_mode()
def statistics_of(model: TabICLBranch, x: torch.Tensor, y: torch.Tensor, sets: int) -> tuple[np.ndarray, np.ndarray]:
    """Statistics (context, record, block, statistic) of NAMES, and the membership matrix (context, record)."""
    membership = balanced(sets, len(x), np.random.default_rng(SEED))
    classes = int(y.max()) + 1

    def reduce(weights: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        logs = weights.mean(1).clamp_min(torch.finfo(weights.dtype).tiny).log()
        return torch.cat(
            [*map(of_log_weights, (logs, geometric_mean(weights))), label_mass(weights, targets, classes)], -1
        )

    found = []
    for row in membership:
        part = model.in_context_attention(x[row][None], y[row][None], x[None], None, reduce)[0]
        # Classes are numbered within the context.
        own = torch.searchsorted(torch.unique(y[row]), y)[:, None, None].expand(-1, part.shape[1], 1)
        fixed = 2 * len(STATISTICS)
        found.append(torch.cat([part[..., :fixed], part[..., fixed:].gather(2, own)], -1))
    return torch.stack(found).double().numpy(), membership


def label_mass(weights: torch.Tensor, targets: torch.Tensor, classes: int) -> torch.Tensor:
    """Attention on the context rows of each class, mean over heads: (b, q, class).

    weights: (b, heads, q, n); targets: (b, n) class codes below `classes`.
    """
    mean = weights.mean(1)
    rows = targets.long()[:, None].expand_as(mean)
    return mean.new_zeros(*mean.shape[:2], classes).scatter_add_(2, rows, mean)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--sets", type=int, default=32)
    arguments = parser.parse_args()
    main(arguments.tables, arguments.sets)
