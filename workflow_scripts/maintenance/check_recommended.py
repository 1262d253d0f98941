"""Hold the error rates of resources/recommended.json against fresh models whose memorized records are known by LiRA.

python workflow_scripts/maintenance/check_recommended.py --input recommended=resources/recommended.json \
    records=a/records.nc scores=a/scores.nc signals=a/0.signals.nc --output results/bench/own_rates.json \
    --params '{"seed": 1, "memorized": 4.0, "replicates": 400}'

`make own_rates` trains the models of config/own_rates.yaml and calls it. The file has the rates of every predictor of
`predict_own` on each setting, those that are stated, and whether the measured intervals lie in the stated ones.
"""

from memaudit.attacks.learned_memorization import LEARNED
from memaudit.attacks.score_matrices import gather
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_json
from memaudit.common.job_inputs import several
from memaudit.studies.predict.setting_features import setting_features
from memaudit.studies.predict.stated_rates import RATES, measured_rates
from memaudit.studies.predict.user_records import read_setting
from memaudit.workflow.job import run


def main(job):
    params, files = job.params, job.input
    options = {"memorized": params.memorized, "replicates": params.replicates, "seed": params.seed}
    signals = [(path, read_grid(path).case) for path in several(files.signals)]
    stated = [read_setting(files.recommended, name) for name in ("psmi", *LEARNED)]
    settings = {}
    for records, scores in zip(several(files.records), several(files.scores), strict=True):
        grid = read_grid(records)
        own = gather([path for path, case in signals if case == grid.case])
        one = setting_features(grid, read_grid(scores), own, grid.case, **options)
        if one.refusal:
            raise AuditError(f"{records}: {one.refusal}; train more targets, or a network that memorizes more")
        rates = [measured_rates(one, of_predictor) for of_predictor in stated]
        settings[one.name] = {
            "targets": len(one.drops),
            "models": one.models,
            "memorized": int(one.judged.memorized.sum()),
            "entries": len(one.judged.memorized),
            "chance": one.share.null,
            "rates": rates,
        }
        for of_predictor in rates:
            print(one.name, of_predictor["predictor"], {name: of_predictor[name]["measured"] for name in RATES})
    write_json({"settings": settings, "seed": params.seed, "sources": stated[0]["brackets"]}, job.output[0])


if __name__ == "__main__":
    run(main, globals())
