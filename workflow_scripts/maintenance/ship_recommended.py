"""Ship the settings for own records that a run of study predict recommends, where they can be used.

python workflow_scripts/maintenance/ship_recommended.py --input results/predict/scores/predict/recommended.json \
    --output resources/recommended.json

`make recommended RUN=predict` calls it. The file is copied only if `predict_own` accepts every predictor in it.
"""

from memaudit.attacks.learned_memorization import LEARNED
from memaudit.common.io import read_json, write_json
from memaudit.studies.predict.user_records import read_setting
from memaudit.workflow.job import run


def main(job):
    path = job.input[0]
    for predictor in ("psmi", *LEARNED):
        setting = read_setting(path, predictor)
        tpr, fpr = (setting[name]["estimate"] for name in ("tpr", "fpr"))
        print(f"{predictor}: TPR {tpr:.2f}, FPR {fpr:.2f}, over {len(setting['settings'])} settings")
    write_json(read_json(path), job.output[0])


if __name__ == "__main__":
    run(main, globals())
