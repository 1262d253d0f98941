"""Attack a model by its predictions about members and non-members, without another query to it.

python workflow_scripts/audit/attack_predictions.py --input table=predictions.parquet \
    --output scores=predictions.json risk=risk.parquet --params "$(cat params.json)"

params: seed; predictions, the config's section. The table is that of the intake
(auditing/predictions/prediction_files.py).
"""

import numpy as np
import pandas as pd

from memaudit.attacks.prediction_scores import Predictions
from memaudit.common.io import read_table, write_json, write_table
from memaudit.common.private_files import keep_private
from memaudit.statistics.two_file_attack import false_positive_rates
from memaudit.studies.audit.prediction_attacks import Files, results
from memaudit.workflow.job import run


def main(job):
    keep_private(job.output.risk)
    table, settings = read_table(job.input.table), job.params.predictions
    files = _files(table, settings["offline_a"])
    facts, found = results(files, settings, np.random.default_rng(job.params.seed))
    write_json(facts, job.output.scores)
    rates = false_positive_rates(found.attacked)[files.units]
    risk = table.loc[table["member"], ["row"]].assign(false_positive_rate=rates[table["member"]])
    risk = risk.sort_values(["false_positive_rate", "row"], ignore_index=True)
    write_table(risk.assign(rank=np.arange(len(risk)) + 1), job.output.risk)
    print(f"AUC {facts['auc']['estimate']:.3f}, p {facts['auc']['p_value']:.3f}, {len(table)} rows")
    return {"seed": job.params.seed}


def _files(table: pd.DataFrame, offline_a: float) -> Files:
    """The intake's copy as arrays; a column of features is one of categories where its name ends in `_category`."""
    parts = {prefix: [name for name in table if name[0] == prefix and name[1:2].isdigit()] for prefix in "pcr"}
    cells = {prefix: table[names].to_numpy(np.float64) for prefix, names in parts.items()}
    categorical = np.array([name.endswith("_category") for name in parts["c"]], np.bool_)
    predictions = Predictions(cells["p"], table["label"].to_numpy(), cells["c"], categorical, cells["r"].T)
    units = table["unit"].to_numpy()
    member = np.zeros(units.max() + 1, np.bool_)
    member[units[table["member"].to_numpy()]] = True
    return Files(predictions, units, member, offline_a)


if __name__ == "__main__":
    run(main, globals())
