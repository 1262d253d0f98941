"""CPU seconds that an estimator takes to be fitted on a context and queried: a rough rate for the plan.

Measured on one core for 100 to 8,000 rows and 4 to 60 columns, with half to six times as many queries as rows: within a
factor of 3 of what was measured.
"""

COLUMNS = 40  # that take as long as the rows do by themselves
# Import path -> seconds of the smallest context, and of each further row.
RATES = {
    "sklearn.ensemble.RandomForestClassifier": (0.15, 3e-4),
    "sklearn.ensemble.HistGradientBoostingClassifier": (0.05, 1.2e-4),
    "sklearn.neighbors.KNeighborsClassifier": (0.01, 2e-5),
    "sklearn.linear_model.LogisticRegression": (0.01, 3e-6),
    "sklearn.neural_network.MLPClassifier": (0.05, 4.5e-4),
}


def seconds(estimator: str, rows: int, columns: int) -> float:
    """CPU seconds of one context of an estimator, by its import path; one without a rate counts as dear as any."""
    least, of_row = RATES.get(estimator) or (max(part) for part in zip(*RATES.values(), strict=True))
    return least + of_row * rows * (1 + columns / COLUMNS)
