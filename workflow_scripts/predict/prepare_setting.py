"""Prepare a setting: inputs, labels and flags of its records, the membership matrix, and initial weights.

python workflow_scripts/predict/prepare_setting.py --input records=records.parquet schema=schema.json key=id.key \
    --output records=records.nc weights=base.safetensors --wildcards '{"case": "table_mlp"}' \
    --params '{"seed": 1, "setting": {"data": {"kind": "table", "dataset": "wine", "questions": null},
        "network": {"kind": "mlp", "width": 32, "depth": 2}, "max_records": null, "label_noise": 0.05, "canaries": 10,
        "models": 16}}'

Label noise and canaries outside the distribution are planted: records known to be hard. The weights are the start of
small language models; for other networks the file holds none. Files of CIFAR-10 and of multiple-choice questions are
the user's: nothing is fetched.
"""

from safetensors.torch import save_file

from memaudit.common.io import replacing, write_grid
from memaudit.models.model_folder import set_up
from memaudit.studies.predict.setting_records import prepare
from memaudit.studies.predict.shadow_training import pretrained
from memaudit.workflow.job import run


def main(job):
    set_up(job.threads)
    params, name = job.params, job.wildcards.case
    grid = prepare(params.setting, name, params.seed, job.input)
    sizes = grid.membership.values.sum(1)
    print(
        f"{name}: {grid.sizes['record']} records of {grid.sizes['class']} classes, {int(grid.mislabelled.sum())} with"
        f" another label, {int(grid.canary.sum())} canaries; {sizes.min()} to {sizes.max()} in a model's training set"
    )
    weights = pretrained(params.setting, grid, params.seed)
    write_grid(grid, job.output.records)
    with replacing(job.output.weights) as temporary:
        save_file(weights, temporary)
    return {"seed": params.seed, "dtype": "float32"}


if __name__ == "__main__":
    run(main, globals())
