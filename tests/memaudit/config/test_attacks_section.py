"""Faults of the section `attacks` that its own keys or several keys together have."""

from config_faults import REMOVE, each, refuses

FAULTS = [
    ({"attacks/datasets": ["wyne"]}, "attacks/datasets: unknown dataset 'wyne'; did you mean `wine`?"),
    ({"attacks/datasets": ["diabetes"]}, "attacks/datasets: diabetes is no classification table"),
    (
        {"attacks/inference/sensitive/credit-g": REMOVE},
        "attacks/inference/sensitive/credit-g: missing; name the column",
    ),
    ({"attacks/split": "lyra"}, "attacks/split: unknown split 'lyra'; did you mean `lira`?"),
    ({"attacks/arms/defended": REMOVE}, "attacks/arms/defended: missing; the study compares with it"),
    ({"attacks/arms/main/model": "tabicl-smal"}, "attacks/arms/main/model: unknown model 'tabicl-smal'"),
    (
        {"attacks/arms/main/model": "tabicl-small-regression"},
        "arms/main/model: tabicl-small-regression is no classifier",
    ),
    ({"attacks/arms/main/model": "tabpfn-v3"}, "attacks/arms/main/model: the weights of tabpfn-v3"),
    ({"attacks/arms/text/datasets": ["wyne"]}, "attacks/arms/text/datasets: unknown dataset 'wyne'"),
    ({"attacks/arms/main/sets": 500}, "attacks/arms/main/sets: 500 is no multiple of the first of attacks/sizes, 8"),
    ({"attacks/arms/main/variants": [{"copies": 2}]}, "attacks/arms/main/variants: begins with {}, the usual contexts"),
    ({"attacks/arms/main/variants": [{}, {"layer": "dropped"}]}, "main/variants: begins with {}, the usual contexts"),
    ({"attacks/arms/settings/variants": [{"copies": 2}] * 2}, "settings/variants: 'copies 2' stands twice"),
    ({"attacks/arms/settings/variants": [{"shares": [0.5, 0.5]}]}, "both `shares` are the same"),
    ({"attacks/arms/settings/variants": [{"shares": [0.5, 0.7], "copies": 2}]}, "are drawn in their own way"),
    ({"attacks/arms/settings/variants": [{"layr": "dropped"}]}, "variants/0/layr: unknown key; did you mean `layer`?"),
    ({"attacks/arms/settings/variants": [{"keys": 16}]}, "settings/variants: 'keys 16': `keys` is a mitigation"),
    ({"attacks/arms/defended/variants": [{"keys": 16}]}, "defended/variants: the first one is what the others are"),
    ({"attacks/arms/defended/variants": [{"bags": 2}]}, "defended/variants: the first one is what the others are"),
    ({"attacks/arms/text/variants": [{"shares": [0.5, 0.7]}]}, "text/variants: the first one is attacked record by"),
    ({"attacks/arms/poisoned": {"model": "tabicl-small", "sets": 16}}, "arms/poisoned: call an arm by letters, digits"),
    ({"attacks/arms/two-words": {"model": "tabicl-small", "sets": 16}}, "arms/two-words: call an arm by letters,"),
    ({"attacks/arms/count": {"model": "tabicl-small", "sets": 16}}, "arms/count: call an arm by letters, digits"),
    (
        {"attacks/arms/defended/datasets": []},
        "attacks/arms/defended/datasets: say null, or some of attacks/datasets",
    ),
    ({"attacks/arms/settngs": {"datasets": []}}, "attacks/arms/settngs/model: missing"),
    ({"attacks/arms/main/datasets": ["wine"]}, "attacks/arms/main/datasets: say null, or all of attacks/datasets"),
    (
        {"attacks/arms/defended/datasets": ["digits"]},
        "attacks/arms/defended/datasets: say null, or some of attacks/datasets",
    ),
    ({"attacks/arms/text/variants": [{"bags": 2}]}, "text/variants: the first one is attacked record by record"),
    ({"attacks/arms/text/variants": [{"layer": "dropped"}]}, "text/variants: the first one is attacked record by"),
    ({"attacks/arms/settings/variants": [{"copies": 256}]}, "variants/0/copies: must be less than or equal to 255"),
    ({"attacks/layer": 0.6}, "attacks/layer: must be less than or equal to 0.5, got 0.6"),
    ({"attacks/active/budgets": [5, 5]}, "attacks/active/budgets: a value stands twice"),
    ({"attacks/datasets": ["wine", "wine"]}, "attacks/datasets: a value stands twice"),
    ({"attacks/active/arms": ["main", "txt"]}, "attacks/active/arms: unknown arm 'txt'; did you mean `text`?"),
    ({"attacks/active/datasets": ["iris"]}, "attacks/active/datasets: say null, or some of attacks/datasets"),
    (
        {"attacks/perturbation/datasets": ["iris"]},
        "attacks/perturbation/datasets: say null, or some of attacks/datasets",
    ),
    ({"attacks/active/arms": ["text"]}, "attacks/active/arms: the first one must be main"),
    ({"attacks/active/sets": 1024}, "attacks/active/sets: 1024 shadow contexts requested, the arm has 512"),
    (
        {"attacks/perturbation/sets": 20},
        "attacks/perturbation/sets: 20 is no multiple of the first of attacks/sizes, 8",
    ),
    ({"attacks/attention/datasets": ["mars"]}, "attacks/attention/datasets: unknown dataset 'mars'"),
    (
        {"attacks/attention/model": "tabicl-small-deployed"},
        "attacks/attention/model: tabicl-small-deployed shows no attention; name a TabICL or TabPFN of mode raw",
    ),
    ({"attacks/attention/model": "tabicl-smal"}, "attacks/attention/model: unknown"),
    (
        {"attacks/attention": {"datasets": ["credit-g"], "sets": 1024}},
        "attacks/attention/sets: 1024 shadow contexts requested, the arm has 512",
    ),
    ({"attacks/families/models": ["tabicl-small"]}, "attacks/families/models: tabicl-small is no estimator of classes"),
    ({"attacks/families/models": ["forest"]}, "attacks/families/models: unknown"),
    (
        {"attacks/families": {"datasets": ["credit-g"], "arms": ["main"]}},
        "attacks/families/arms: no other arm is called 'main'",
    ),
    (
        {"attacks/families": {"datasets": ["credit-g"], "arms": ["defended"]}},
        "attacks/families/arms: defended must begin with {}, the contexts of `main`",
    ),
    (
        {"attacks/families/datasets": ["credit-g"], "attacks/families/sets": 64},
        "attacks/families/arms: other_mode must begin with {}, the contexts of `main`, and have 64 of them",
    ),
    (
        {"attacks/families": {"datasets": ["credit-g"], "arms": [], "models": []}},
        "attacks/families: nothing to compare with `main`",
    ),
    (
        {"attacks/families": {"datasets": ["credit-g"], "sets": 1024}},
        "attacks/families/sets: 1024 shadow contexts requested, the arm has 512",
    ),
    ({"attacks/sets": 1024}, "attacks/sets: 1024 shadow contexts requested, the arm has 512"),
    ({"attacks/sizes": [16, 8]}, "attacks/sizes: must increase"),
    ({"attacks/perturbation/scale": 0.3}, "attacks/perturbation/scale: 0.3 is none of `scales`"),
    ({"attacks/perturbation/count": 11}, "attacks/perturbation/count: 11 is none of `counts`"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)
