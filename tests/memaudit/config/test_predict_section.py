"""Faults of the sections `predict` and `own` that their own keys or several keys together have."""

from config_faults import each, refuses

OWN = {"name": "mine", "records": "records.parquet", "case": "nowhere"}
FAULTS = [
    ({"predict/cases": ["digitz"]}, "predict/cases: unknown setting 'digitz'; did you mean `digits_wrn`?"),
    ({"predict/cases": ["digits_wrn"] * 2}, "predict/cases: a value stands twice"),
    ({"predict/settings/digits_wrn/models": 7}, "digits_wrn/models: must be greater than or equal to 8, got 7"),
    ({"predict/settings/digits_wrn/targets": 10_000}, "predict/settings/digits_wrn/targets: 10000 of 32 models"),
    ({"predict/settings/cancer_mlp/data/dataset": "wyne"}, "predict/settings/cancer_mlp/data/dataset: unknown"),
    ({"own": OWN}, "own/case: 'nowhere' is none of predict/cases"),
    ({"own": OWN | {"case": "digits_wrn", "colour": 1}}, "own/colour: unknown key"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)
