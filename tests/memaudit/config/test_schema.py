"""The whole config: all sections, and those that belong to no study."""

from config_faults import REMOVE, each, refuses

from memaudit.config.schema import Config
from memaudit.config.shared_keys import SharedKeys

FAULTS = [
    ({"sed": 1}, "sed: unknown key; did you mean `seed`?"),
    ({"lira": REMOVE}, "lira: missing; see config/README.md"),
    ({"plan/width": 0}, "plan/width: must be greater than 0, got 0"),
    ({"plan/gpu_tflops": "12"}, "plan/gpu_tflops: must be a valid number, got '12'"),
    ({"plan/with": 0.1}, "plan/with: unknown key; did you mean `width`?"),
    ({"pretrain/settings/save_every": 0}, "pretrain/settings/save_every: must be greater than or equal to 1, got 0"),
    ({"pretrain/models": {"a b": {}}}, "pretrain/models/a b/[key]: string should match pattern"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)


def test_a_config_can_be_checked_by_the_keys_that_all_studies_share(config):
    whole = Config.model_validate(config)
    assert isinstance(whole, SharedKeys)
    assert whole.run == config["run"]
    assert list(whole.datasets) == list(config["datasets"])
