"""Look-ups of rules/predict.smk."""

from memaudit.workflow.study import Study


class Predict(Study):
    """Not yet here: rules/predict_common.smk and rules/predict_views.smk."""

    name = "predict"
    converted = False
