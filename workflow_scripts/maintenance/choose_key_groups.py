"""Print leakage and utility of k-anonymous keys by k and threshold, on scikit-learn's tables with the shipped model.

python workflow_scripts/maintenance/choose_key_groups.py --sets 16 --tables wine breast_cancer

The columns are the AUC of the combined score that reads attention, that of LiRA and RMIA on the answers, and accuracy
and log loss of records that are not in the context. `memaudit.models.anonymous_keys` says how K and THRESHOLD follow.
The population of RMIA is a tenth of the records, which is in no context.
"""

import argparse

import numpy as np
import torch

from memaudit.attacks.attention_signals import BLOCK, concentration
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.signals import logit_confidence
from memaudit.data.membership_matrices import balanced
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.statistics import roc
from memaudit.studies.attacks.public_tables import SEED, TABLES, records

SETTINGS = [*((k, 0.0) for k in (1, 2, 4, 8, 16, 32)), (16, 0.1), (16, 0.3), (16, 1.0)]  # k and threshold


def main(tables: list[str], sets: int) -> list[tuple[str, int, float, float, float, float, float]]:
    """Rows of table, k, threshold, AUC with attention, AUC of the answers, accuracy and log loss, printed."""
    model, rows = TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"), []
    for table in tables:
        x, y = records(table)
        for k, threshold in SETTINGS:
            found = judged(model.with_anonymous_keys(k, threshold), x, y, sets)
            rows.append((table, k, threshold, *found))
            numbers = "attention {:.3f}  answers {:.3f}  accuracy {:.4f}  log loss {:.4f}".format(*found)
            print(f"{table:14} k {k:2} threshold {threshold:.1f}  {numbers}", flush=True)
    return rows


@torch.inference_mode()
def judged(model: TabICLBranch, x: torch.Tensor, y: torch.Tensor, sets: int) -> tuple[float, float, float, float]:
    """AUC with attention, AUC of the answers, accuracy and log loss of records that are not in the context."""
    first = len(x) // 10
    membership = np.zeros((sets, len(x)), bool)
    membership[:, first:] = balanced(sets, len(x) - first, np.random.default_rng(SEED))
    attention, logs = [], []
    for row in membership:
        tables = x[row][None], y[row][None], x[None]

        def reduce(weights: torch.Tensor, _targets: torch.Tensor) -> torch.Tensor:
            return concentration(weights, k=model.anonymity)

        attention.append(model.in_context_attention(*tables, [BLOCK], reduce)[0, :, 0])
        logs.append(model.logits(*tables)[0])
    seen, logits = (torch.stack(part).double().numpy() for part in (attention, logs))
    own = logit_confidence(logits, np.broadcast_to(y.numpy(), logits.shape[:2]))
    members, inside = membership[:, first:], np.concatenate([seen[..., :2], own[..., None]], -1)[:, first:]
    areas = [
        roc.auc(calibrate(signals, members, method, population=own[:, :first]), members)
        for signals, method in ((inside, "white_box"), (own[:, first:], "combined"))
    ]
    right = (logits.argmax(-1) == y.numpy())[~membership].mean()
    losses = np.logaddexp(0, -own)[~membership]
    return *areas, float(right), float(losses.mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--sets", type=int, default=16)
    arguments = parser.parse_args()
    main(arguments.tables, arguments.sets)
