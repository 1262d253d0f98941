"""The figures of the attacks hold what the table holds, name it, and stand when a piece is missing."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from memaudit.attacks.registry import REGISTRY
from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.plotting import attacks_figures, figure_style

DATASETS, RATES, BUDGETS, SETS = ("wine", "breast_cancer"), (0.001, 0.1, 1.0), (0, 5, 20), (16, 64, 256)
FIGURES = (
    "roc", "inference", "features", "poison", "shadow_sets", "settings", "risk_map", "mitigations", "model_families",
)  # fmt: skip


def row(metric, estimate, null=0.5, **keys):
    return tidy.row("attacks", keys, metric, estimate, low=estimate * 0.9, high=estimate * 1.1, null=null)


def curves(key, names, **more):
    return [
        row("roc_tpr", fpr**0.5, fpr, dataset=dataset, **more, **{key: name, "poison": poison, "fpr": f"{fpr:.6g}"})
        for dataset in DATASETS
        for name in names
        for poison in ((5, 20) if name == "lira poisoned" else (0,))
        for fpr in RATES
    ]


def ablation(name, values, arms=("main",)):
    """With rows of another ablation, whose values are no numbers, and with what a null adds to each metric."""
    rows = []
    for place, dataset in enumerate(DATASETS):
        for arm in arms[: 1 + place]:
            for value in values:
                keys = {"dataset": dataset, "arm": arm, "ablation": name, "value": value}
                rows.append(row("auc", 0.6 + value / 1000 + 0.05 * arms.index(arm), 0.49, **keys))
                rows += [row(f"tpr@{fpr:g}", fpr + value / 1000, fpr, **keys) for fpr in (0.05, 0.02)]
                rows.append(row("tpr@0.02 p-value", 0.05, np.nan, **keys))
        rows.append(row("auc", 0.9, dataset=dataset, arm="main", ablation="noise", value="much"))
    return rows


def variants():
    """As in a study: other arms, numbers of sets and kinds of records stand beside what is drawn."""
    rows = []
    for dataset in DATASETS:
        for variant, features, copies, context, kinds, arm, sets in (
            ("features 2 order 1", 2, 1, 100.5, ("all",), "settings", 64),
            ("features 4", 4, 1, 100.5, ("all",), "settings", 64),
            ("context 16", 13, 1, 16, ("all", "common"), "settings", 64),
            ("copies 5", 13, 5, 100.5, ("all", "copied"), "settings", 64),
            ("usual", 13, 1, 100.5, ("all", "copied", "common"), "main", 64),
            ("usual", 13, 1, 100.5, ("all",), "main", 128),
            ("usual", 13, 1, 100.5, ("all",), "deployed", 64),
            ("context 16 features 4", 4, 1, 16, ("all",), "tabular", 64),
        ):
            keys = {"dataset": dataset, "arm": arm, "variant": variant, "context": context, "features": features}
            keys |= {"copies": copies, "sets": sets}
            estimate = 0.5 + features / 100 + copies / 50 + sets / 10000 + context / 1000
            rows += [row("auc", estimate, **keys, records=records) for records in kinds]
            rows.append(row("balanced accuracy", 0.9, **keys, records="non-members"))
    return [*rows, row("spearman features", 0.5, dataset="wine", sets=64)]


def points(classes=3):
    rows = []
    for dataset in DATASETS:
        for point in range(20):
            keys = {"dataset": dataset, "point": point, "class": point % classes}
            rows += [row("distance", (point + 1) / 20, **keys), row("vulnerability", point / 10 - 0.3, **keys)]
    return rows


def defences(names=("none", "labels only", "bags 4")):
    rows = []
    for dataset in DATASETS:
        for place, name in enumerate(names):
            keys = {"dataset": dataset, "mitigation": name}
            attack = "lira on correctness" if name == "labels only" else "lira"
            rows.append(row("auc", 0.7 - 0.05 * place, **keys, attack=attack, records="all that remain"))
            rows.append(row("auc", 0.99, **keys, attack=attack, records="next layer"))
            rows.append(row("auc", 0.98, **keys, attack="perturbation", records="targets"))
            rows.append(row("balanced accuracy", 0.9 - 0.01 * place, **keys, attack=attack, records="non-members"))
    return rows


def families(names=("network", "forest", "neighbours")):
    """As in a study, the control and the differences stand beside what is drawn; one family has no mean."""
    rows = []
    for dataset in (*DATASETS, "mean"):
        for place, name in enumerate(names if dataset != "mean" else names[:2]):
            keys = {"dataset": dataset, "model": name, "attack": "strongest"}
            rows.append(row("auc", 0.6 + 0.1 * place, **keys, records="members"))
            rows.append(row("auc", 0.5, **keys, records="redrawn"))
            rows.append(row("auc difference", 0.1 * place, **keys, records="members"))
            rows.append(row("balanced accuracy", 0.7 + 0.05 * place, **keys, records="non-members"))
    return rows


def expanded(rows):
    return tidy.expand(tidy.frame(rows))


@pytest.fixture(scope="module")
def tables():
    made = {
        "roc": curves("attack", [*attacks_figures.THREATS, "rmia"], arm="main")
        + curves("attack", ["lira"], arm="text"),
        "inference": curves("question", ("attribute", "data set", "property")),
        "features": variants(),
        "poison": ablation("poison budget", BUDGETS, ("main", "text")),
        "shadow_sets": ablation("shadow sets", SETS),
        "settings": variants(),
        "risk_map": points(),
        "mitigations": defences(),
        "model_families": families(),
    }
    return {name: expanded(rows) for name, rows in made.items()}


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def lines(axes, colour):
    return [line for line in axes.get_lines() if line.get_color() == colour]


def drawn(line):
    return dict(zip(line.get_xdata(), line.get_ydata(), strict=True))


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


@pytest.mark.parametrize("name", ["roc", "inference", "risk_map", "mitigations"])
def test_each_data_set_has_one_panel(tables, name):
    assert titles(getattr(attacks_figures, name)(tables[name])) == list(DATASETS)


def test_roc_names_the_threat_models_and_leaves_out_other_arms_attacks_and_budgets(tables):
    figure = attacks_figures.roc(tables["roc"])
    assert legend(figure) == [
        "Perturbation (labels only, passive)",
        "LiRA (probabilities, passive)",
        "Brainwash (labels only, active)",
        "LiRA + 20 poisons (probabilities, active)",
        "guessing",
    ]
    for axes in figure.axes:
        for colour in (getattr(figure_style, REGISTRY[name].colour) for name in attacks_figures.THREATS):
            curve, *others = lines(axes, colour)
            assert drawn(curve) == pytest.approx({fpr: fpr**0.5 for fpr in RATES})
            assert not others
        assert len(axes.collections) == len(attacks_figures.THREATS)
        (diagonal,) = (line for line in lines(axes, figure_style.GREY) if line.get_linestyle() == "--")
        assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0.001, 1]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_bands_are_the_intervals_of_the_table(tables):
    axes = attacks_figures.roc(tables["roc"]).axes[0]
    for band in axes.collections:
        vertices = band.get_paths()[0].vertices
        for fpr in RATES:
            ends = vertices[np.isclose(vertices[:, 0], fpr), 1]
            assert (ends.min(), ends.max()) == pytest.approx((0.9 * fpr**0.5, 1.1 * fpr**0.5))


def test_inference_has_a_curve_for_each_question(tables):
    figure = attacks_figures.inference(tables["inference"])
    assert legend(figure) == ["attribute inference", "data set inference", "property inference", "guessing"]
    for axes in figure.axes:
        assert drawn(lines(axes, figure_style.GREEN)[0]) == pytest.approx({fpr: fpr**0.5 for fpr in RATES})


def test_features_are_those_of_the_usual_contexts_hollow_and_of_fewer_columns_with_as_many_sets(tables):
    axes = attacks_figures.features(tables["features"]).axes[0]
    bars, found = axes.collections[::2], axes.collections[1::2]
    assert len(found) == len(DATASETS)
    for place, (bar, dots) in enumerate(zip(bars, found, strict=True)):
        x, y = np.asarray(dots.get_offsets()).T
        expected = [0.5 + number / 100 + 1 / 50 + 64 / 10000 + 0.1005 for number in (2, 4, 13)]
        assert y == pytest.approx(expected)
        assert x == pytest.approx(np.array([2, 4, 13]) * 2 ** (0.12 * (place - 0.5)))
        assert [to_hex(face) for face in dots.get_facecolors()] == [
            *[attacks_figures.COLOURS[place].lower()] * 2,
            "#ffffff",
        ]
        ends = [(segment[0, 1], segment[1, 1]) for segment in bar.get_segments()]
        assert np.array(ends) == pytest.approx(np.outer(expected, (0.9, 1.1)))


def test_features_compare_many_data_sets_near_their_numbers_of_columns():
    columns = {f"table {number}": 4 * number for number in range(1, 10)}
    rows = [
        row("auc", 0.5 + features / 100, dataset=name, arm=arm, variant=variant, features=kept, sets=128, records="all")
        for name, features in columns.items()
        for arm, variant, kept in (("settings", "features 2", 2), ("main", "usual", features))
    ]
    dots = attacks_figures.features(tidy.expand(tidy.frame(rows))).axes[0].collections[1::2]
    hollow = [np.asarray(of.get_offsets())[1] for of in dots]
    assert [x for x, _ in hollow] == pytest.approx(list(columns.values()), rel=0.14)
    assert [y for _, y in hollow] == pytest.approx([0.5 + features / 100 for features in columns.values()])


def test_features_tell_the_correlation_of_a_data_set_that_has_one(tables):
    assert legend(attacks_figures.features(tables["features"])) == [
        "wine, \u03c1 = 0.50 [0.45, 0.55]",
        "breast_cancer",
        "all features",
        "guessing",
    ]


def test_features_of_one_arm_without_variants_are_the_usual_ones_of_most_sets(tables):
    table = tables["features"]
    dots = attacks_figures.features(table[table["variant"] == "usual"]).axes[0].collections[1]
    assert np.asarray(dots.get_offsets())[:, 1] == pytest.approx([0.5 + 0.13 + 0.02 + 0.0128 + 0.1005])


def test_poison_has_a_column_for_each_data_set_a_line_for_each_arm_and_the_smallest_rate_below(tables):
    figure = attacks_figures.poison(tables["poison"])
    wine, both, wine_rate, both_rate = figure.axes
    assert titles(figure) == [*DATASETS, "", ""]
    assert (wine.get_ylabel(), wine_rate.get_ylabel()) == ("AUC", "TPR at FPR = 0.02")
    assert legend(figure) == ["main", "text", "guessing", "null"]
    assert drawn(lines(both, figure_style.RED)[0]) == pytest.approx({k: 0.65 + k / 1000 for k in BUDGETS})
    assert drawn(lines(both_rate, figure_style.BLUE)[0]) == pytest.approx({k: 0.02 + k / 1000 for k in BUDGETS})
    assert not len(lines(wine, figure_style.RED)[0].get_xdata())
    assert wine.get_ylim() == both.get_ylim() != wine_rate.get_ylim()


def test_the_null_of_the_table_is_dotted_and_guessing_is_dashed(tables):
    for axes, guess, null in zip(
        attacks_figures.shadow_sets(tables["shadow_sets"]).axes, (0.5, 0.02), (0.49, 0.02), strict=True
    ):
        grey = lines(axes, figure_style.GREY)
        dotted = [line for line in grey if line.get_linestyle() == ":"]
        assert [drawn(line) for line in dotted] == [dict.fromkeys(SETS, null)] * len(DATASETS)
        assert [list(line.get_ydata()) for line in grey if line.get_linestyle() == "--"] == [[guess, guess]]


def test_shadow_sets_stand_on_a_logarithmic_axis_with_ticks_at_their_numbers(tables):
    figure = attacks_figures.shadow_sets(tables["shadow_sets"])
    assert legend(figure) == [*DATASETS, "guessing", "null"]
    for axes in figure.axes:
        assert axes.get_xscale() == "log"
        assert [label.get_text() for label in axes.get_xticklabels()] == ["16", "64", "256"]
    assert drawn(lines(figure.axes[0], figure_style.BLUE)[0]) == pytest.approx({m: 0.6 + m / 1000 for m in SETS})


def test_settings_compare_copies_and_contexts_each_on_records_of_their_own(tables):
    copies, context = attacks_figures.settings(tables["settings"]).axes
    usual = 0.5 + 0.13 + 0.02 + 0.0064 + 0.1005
    assert drawn(lines(copies, figure_style.BLUE)[0]) == pytest.approx({1: usual, 5: usual + 0.08})
    assert drawn(lines(context, figure_style.RED)[0]) == pytest.approx({16: usual - 0.0845, 100.5: usual})
    assert (copies.get_xlabel(), context.get_xlabel()) == ("duplicates of the record", "records in the context")


def test_settings_without_copies_have_one_panel(tables):
    table = tables["settings"]
    (axes,) = attacks_figures.settings(table[table["records"] != "copied"]).axes
    assert axes.get_xlabel() == "records in the context"


def test_risk_map_has_every_record_in_the_colour_of_its_class(tables):
    figure = attacks_figures.risk_map(tables["risk_map"])
    assert legend(figure) == ["class 0", "class 1", "class 2"]
    for axes in figure.axes:
        (dots,) = axes.collections
        expected = [(5 * (point + 1), point / 10 - 0.3) for point in range(20)]
        assert np.asarray(dots.get_offsets()) == pytest.approx(np.array(expected))
        faces = [to_hex(face).upper() for face in dots.get_facecolors()]
        assert faces == [attacks_figures.COLOURS[point % 3] for point in range(20)]
        assert not dots.get_rasterized()


def test_many_classes_have_a_colour_bar_and_codes_in_order():
    figure = attacks_figures.risk_map(expanded(points(classes=10)))
    assert [axes.get_label() for axes in figure.axes].count("<colorbar>") == len(DATASETS)
    assert list(figure.axes[0].collections[0].get_array()) == [point % 10 for point in range(20)]


def test_mitigations_pair_the_leak_of_all_that_remain_with_the_utility_and_number_the_points(tables):
    figure = attacks_figures.mitigations(tables["mitigations"])
    assert legend(figure) == ["1  none", "2  labels only", "3  bags 4", "guessing"]
    for axes in figure.axes:
        placed = {text.get_text(): text.xy for text in axes.texts}
        assert placed == {str(1 + i): pytest.approx((0.9 - 0.01 * i, 0.7 - 0.05 * i)) for i in range(3)}
        across, up = axes.collections[:2]
        assert across.get_segments()[0] == pytest.approx(np.array([[0.81, 0.7], [0.99, 0.7]]))
        assert up.get_segments()[0] == pytest.approx(np.array([[0.9, 0.63], [0.9, 0.77]]))


def test_numbers_of_points_that_lie_on_each_other_stand_apart():
    names = [f"decimals {i}" for i in range(10)]
    rows = expanded(defences(names))
    rows["estimate"] = rows["estimate"].where(rows["metric"] != "auc", 0.7)
    for axes in attacks_figures.mitigations(rows).axes:
        heights = {text.get_text(): text.xyann[1] for text in axes.texts}
        assert set(heights) == {str(number) for number in range(1, 11)}
        assert np.diff(sorted(heights.values())).min() > 0.08
        assert 0 < min(heights.values()) < max(heights.values()) <= 1


def test_a_curve_begins_where_a_non_member_is_passed(tables):
    rows = tables["roc"].copy()
    rows.loc[rows["fpr"] < 0.01, "method"] = "bootstrap, FPR below 1/80 non-members: interpolated"
    for axes in attacks_figures.roc(rows).axes:
        curves = [line for line in axes.lines if to_hex(line.get_color()) != to_hex(figure_style.GREY)]
        assert len(curves) == 4
        assert min(line.get_xdata().min() for line in curves) == 0.1
        assert axes.get_xlim()[0] == 0.001


def test_a_mitigation_without_utility_is_left_out_and_no_pair_at_all_is_an_error(tables):
    table = tables["mitigations"]
    half = table[(table["metric"] != "balanced accuracy") | (table["mitigation"] == "none")]
    assert legend(attacks_figures.mitigations(half)) == ["1  none", "guessing"]
    parted = half[(half["metric"] != "auc") | (half["mitigation"] != "none")]
    with pytest.raises(AuditError, match="no mitigation has balanced accuracy and auc"):
        attacks_figures.mitigations(parted)


def test_an_interval_that_leaves_its_estimate_out_is_drawn(tables):
    for name in ("features", "mitigations"):
        figure = getattr(attacks_figures, name)(tables[name].assign(low=0.3, high=0.4))
        assert any(0.3 in segment for segment in figure.axes[0].collections[0].get_segments()[0])


def test_families_stand_by_accuracy_and_leakage_in_each_table_and_the_mean(tables):
    figure = attacks_figures.model_families(tables["model_families"])
    assert titles(figure) == [*DATASETS, "mean"]
    assert legend(figure) == ["1  network", "2  forest", "3  neighbours", "guessing"]
    wine, _, mean = figure.axes
    assert [list(lines(axes, figure_style.RED)[0].get_xydata()[0]) for axes in (wine, mean)] == [[0.75, 0.7]] * 2
    assert not lines(mean, figure_style.GREEN)
    across, upright = (bar.get_segments()[0] for bar in wine.collections[:2])
    assert across[:, 0] == pytest.approx([0.63, 0.77])
    assert upright[:, 1] == pytest.approx([0.54, 0.66])


@pytest.mark.parametrize("name", FIGURES)
def test_one_data_set_is_enough(tables, name):
    table = tables[name][tables[name]["dataset"] == "breast_cancer"]
    figure = getattr(attacks_figures, name)(table)
    assert figure.get_figwidth() <= figure_style.TWO_COLUMNS
    figure.draw_without_rendering()


@pytest.mark.parametrize(("name", "value"), [("poison", 5), ("shadow_sets", 64)])
def test_one_value_has_a_bar_where_a_band_would_have_no_width(tables, name, value):
    table = tables[name]
    axes = getattr(attacks_figures, name)(table[table["value"].astype(str) == str(value)]).axes[0]
    (segment,) = axes.collections[1].get_segments()
    assert segment == pytest.approx(np.array([[value, 0.9], [value, 1.1]]) * [[1, 0.6 + value / 1000]])


def test_a_data_set_without_an_attack_leaves_its_panel_with_the_others(tables):
    table = tables["roc"]
    figure = attacks_figures.roc(table[(table["dataset"] == "wine") | (table["attack"] == "lira")])
    assert titles(figure) == list(DATASETS)
    assert len(legend(figure)) == 5
    assert not len(lines(figure.axes[1], figure_style.RED)[0].get_xdata())


def test_five_data_sets_stand_in_two_rows(tables):
    table = tables["inference"][tables["inference"]["dataset"] == "wine"]
    figure = attacks_figures.inference(pd.concat([table.assign(dataset=name) for name in "abcde"]))
    assert titles(figure) == list("abcde")
    assert len({axes.get_subplotspec().rowspan.start for axes in figure.axes}) == 2


@pytest.mark.parametrize("name", FIGURES)
def test_no_row_is_an_error_in_one_line(tables, name):
    with pytest.raises(AuditError, match=rf"^figure attacks_{name}: .*; .*`where`$"):
        getattr(attacks_figures, name)(tables[name].iloc[:0])
    with pytest.raises(AuditError, match=rf"^figure attacks_{name}: "):
        getattr(attacks_figures, name)(tables[name].assign(metric="none of them"))


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"features"}))
def test_two_rows_for_one_point_are_an_error_and_not_a_zigzag(tables, name):
    with pytest.raises(AuditError, match="two rows are for dataset wine"):
        getattr(attacks_figures, name)(pd.concat([tables[name]] * 2))


@pytest.mark.parametrize("name", FIGURES)
def test_a_name_from_data_is_not_read_as_a_formula(tables, name):
    table = tables[name][tables[name]["dataset"] == "wine"]
    getattr(attacks_figures, name)(table.assign(dataset=r"a$\frac$b")).draw_without_rendering()


def test_saving_twice_gives_equal_bytes(tables, tmp_path):
    for name in FIGURES:
        for copy in ("a", "b"):
            figure = getattr(attacks_figures, name)(tables[name])
            with mpl.rc_context(figure_style.RC):
                figure.savefig(tmp_path / f"{copy}.svg", metadata=figure_style.METADATA["svg"])
        assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes(), name
