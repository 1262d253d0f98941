"""Faults of the section `tabpate` that its own keys or several keys together have."""

from config_faults import REMOVE, each, refuses

FAULTS = [
    ({"tabpate/datasets": ["wyne"]}, "tabpate/datasets: unknown dataset 'wyne'; did you mean `wine`?"),
    ({"tabpate/datasets": ["mmlu"]}, "tabpate/datasets: mmlu is no table"),
    ({"tabpate/models/regression": REMOVE}, "tabpate/models/regression: missing; diabetes needs one"),
    ({"tabpate/models/regression": "tabicl-small"}, "tabpate/models/regression: tabicl-small is for classification"),
    ({"tabpate/delta": 0.1}, "tabpate/delta: 0.1 is more than 1 / 569, the records of breast_cancer"),
    ({"tabpate/epsilons": [0.0]}, "tabpate/epsilons/0: must be greater than 0"),
    ({"tabpate/arms/as_published": REMOVE}, "tabpate/arms/as_published: missing; comparisons need this arm"),
    ({"tabpate/arms/prompt_pate/held_out": False}, "arms/prompt_pate/held_out: PromptPATE's public records cannot be"),
    (
        {"tabpate/arms/tuned_alpha/settings/candidates": [0.1, 0.1]},
        "tabpate/arms/tuned_alpha/settings/candidates: the same alpha twice",
    ),
    (
        {"tabpate/arms/dp_tabicl/settings/prototypes": 4},
        "tabpate/arms/dp_tabicl/settings/prototypes: 4 are fewer than `intervals`, 10 of the target of diabetes",
    ),
    (
        {"tabpate/arms/as_published/settings/sigma1": None},
        "tabpate/arms/as_published/settings/sigma1: goes with `threshold`",
    ),
    (
        {"tabpate/arms/as_published/settings/sigma2": None},
        "tabpate/arms/as_published/settings/sigma2: goes with `threshold`",
    ),
    (
        {"tabpate/arms/few_teachers/settings/labels": "group"},
        "tabpate/arms/few_teachers/settings/labels: TabPATE labels by votes; by group is the method class-moments",
    ),
    (
        {"tabpate/arms/published_moments/by_dataset": {"wine-quality": {"alpha": 2.0}}},
        "tabpate/arms/published_moments/by_dataset/wine-quality/alpha: input should be less than or equal to 1",
    ),
    (
        {"tabpate/arms/published_moments/by_dataset": {"wyne-quality": {"alpha": 0.2}}},
        "tabpate/arms/published_moments/by_dataset: unknown dataset 'wyne-quality'",
    ),
    (
        {
            "tabpate/datasets": ["wine-quality-red"],
            "tabpate/arms/published_moments/by_dataset": {"wine-quality": {"alpha": 0.38}},
        },
        "tabpate/arms/published_moments/by_dataset: has settings of wine-quality, but none of wine-quality-red",
    ),
    ({"tabpate/arms/few_teachers/chosen_on": ["wyne"]}, "tabpate/arms/few_teachers/chosen_on: unknown dataset 'wyne'"),
    (
        {"tabpate/tuned": "config/tabpate_settings.json", "tabpate/datasets": ["diabetes", "wine"]},
        "tabpate/datasets: config/tabpate_settings.json was tuned on wine; leave it out, or set tabpate/tuned to null",
    ),
    (
        {"tabpate/tuned": "config/tabpate_settings.json", "tabpate/arms/mst/tuned": "dp_sgd"},
        "tabpate/arms/mst/tuned/classification/1/batch: extra inputs are not permitted",
    ),
    ({"tabpate/shadows/sets": 30}, "tabpate/shadows/sets: 30 is no multiple of 8"),
    ({"tabpate/shadows/poisoned/sets": 64}, "tabpate/shadows/poisoned/sets: more than tabpate/shadows/sets"),
    ({"tabpate/shadows/arms": ["mst"]}, "tabpate/shadows/arms: mst is no arm, or one whose synthesizer needs"),
    (
        {"tabpate/synthesizers/arms": ["as_published"]},
        "tabpate/synthesizers/arms: as_published is no arm of AIM or MST",
    ),
    ({"tabpate/synthesizers/refits": 4}, "tabpate/synthesizers/refits: must be greater than or equal to 10"),
    ({"tabpate/shadows/datasets": ["diabetes"]}, "tabpate/shadows/datasets: diabetes has a number target"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)
