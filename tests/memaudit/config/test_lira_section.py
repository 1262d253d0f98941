"""Faults of the section `lira` that its own keys or several keys together have."""

from config_faults import each, refuses

FAULTS = [
    ({"lira/modls": 1}, "lira/modls: unknown key; did you mean `models`?"),
    ({"lira/simulation/colour": 1}, "lira/simulation/colour: unknown key; known: dimensions, draws"),
    (
        {"lira/datasets": ["brest_cancer"]},
        "lira/datasets: unknown dataset 'brest_cancer'; did you mean `breast_cancer`?",
    ),
    ({"lira/model": "tabicl-smal"}, "lira/model: unknown model 'tabicl-smal'; did you mean `tabicl-small`?"),
    ({"lira/split": "test"}, "lira/split: unknown split 'test'"),
    ({"lira/shard": 0}, "lira/shard: must be greater than or equal to 1, got 0"),
    ({"lira/shard": 2.5}, "lira/shard: must be a valid integer, got 2.5"),
    ({"lira/fpr": [0.1, 0.0]}, "lira/fpr/1: must be greater than 0, got 0.0"),
    ({"lira/fpr": [1.0]}, "lira/fpr/0: must be less than 1, got 1.0"),
    ({"lira/fpr": 0.1}, "lira/fpr: must be a valid list, got 0.1"),
    ({"lira/fpr": []}, "lira/fpr: list should have at least 1 item"),
    ({"lira/design": "half"}, "lira/design: must be 'balanced', 'bernoulli' or 'fixed_size', got 'half'"),
    ({"lira/rmia/gamma": 0.0}, "lira/rmia/gamma: must be greater than 0, got 0.0"),
    ({"lira/audit/delta": 1.0}, "lira/audit/delta: must be less than 1, got 1.0"),
    ({"lira/models": 8}, "lira/models: must be greater than or equal to 64, got 8"),
    ({"lira/models": True}, "lira/models: must be a valid integer, got True"),
    ({"lira/sizes": [16, 2048]}, "lira/sizes: must end with lira/models = 512, not with 2048"),
    ({"lira/sizes": [64, 16]}, "lira/sizes: must increase, without repeats"),
    ({"lira/sizes": [17, 32]}, "lira/sizes: `balanced` needs an even first size"),
    ({"lira/sizes": [16, 40]}, "lira/sizes: `balanced` needs an even first size, and multiples of it (16)"),
    ({"lira/replicates": 5}, "lira/replicates: must be greater than or equal to 20, got 5"),
    ({"lira/simulation/sizes": [1000]}, "lira/simulation/sizes: 1000 must be smaller than population - 1 = 999"),
    ({"lira/fpr": [0.1, 0.1]}, "lira/fpr: a value stands twice"),
    ({"lira/datasets": ["wine", "wine"]}, "lira/datasets: a value stands twice"),
    (
        {"lira/simulation/draws": ["poisson"]},
        "lira/simulation/draws/0: must be 'fixed_size' or 'bernoulli', got 'poisson'",
    ),
    ({"lira/population_check/context": 39}, "lira/population_check/context: must be smaller than `targets` - 1"),
    ({"lira/population_check/context": 30}, "context: 30 of 455 members of breast_cancer are more than 5%"),
    ({"lira/population_check/datasets": ["digits"]}, "population_check/datasets: digits must be one of lira/datasets"),
    ({"lira/population_check/supersets": 99}, "lira/population_check: 99 x 40 targets are more than the members of"),
    ({"lira/oracle_models": 48}, "lira/oracle_models: 48 is none of lira/sizes"),
    ({"lira/whole": ["digits"]}, "lira/whole: digits must be one of lira/datasets"),
    ({"lira/whole": ["breast_cancer", "breast_cancer"]}, "lira/whole: a value stands twice"),
    (
        {"lira/whole": ["breast_cancer"], "datasets/breast_cancer/max_records": 500},
        "lira/whole: datasets/breast_cancer has max_records or balance",
    ),
    ({"lira/datasets": ["diabetes"]}, "lira/datasets: diabetes is no classification table"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)
