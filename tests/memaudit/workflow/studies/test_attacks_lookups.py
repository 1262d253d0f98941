"""Look-ups of rules/attacks/ on two tables with a few arms."""

from copy import deepcopy

import pytest
from attacks_study import DEPLOYED, PLAIN, SMALL, two_tables, wildcards

from memaudit.workflow import estimator_costs
from memaudit.workflow.job_costs import size
from memaudit.workflow.studies.attacks_lookups import Attacks


@pytest.fixture
def attacks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return two_tables()


def test_mitigations_are_compared_on_tables_that_have_their_arms(attacks):
    assert attacks.results["mitigations"] == ["<results>/scores/attacks/wine/mitigations.parquet"]
    assert attacks.results["attacks"] == [
        f"<results>/scores/attacks/{name}/attacks.parquet" for name in attacks.datasets
    ]
    assert attacks.results["average"] == ["<results>/scores/attacks/average.parquet"]


def test_readers_see_models_tables_and_a_rate_for_each_fpr(attacks):
    names = attacks.names
    assert [row[0] for row in names["models"]] == [SMALL, DEPLOYED, "random-forest", "mlp"]
    assert (names["datasets"], names["metrics"]) == (["wine", "digits"], ["auc", "tpr@0.1", "tpr@0.01"])


def test_a_grid_has_a_context_for_each_set_and_variant(attacks):
    folder = "<results>/signals/attacks/wine"
    assert attacks.grid("main")(wildcards()) == [f"{folder}/main/0.nc", f"{folder}/main/1.nc"]
    assert attacks.grid("settings")(wildcards()) == [f"{folder}/settings/0.nc", f"{folder}/settings/1.nc"]
    assert attacks.grid("defended")(wildcards("digits")) == []
    assert list(attacks.grids(["main", "settings"])) == ["main", "settings"]


def test_arms_with_the_same_variants_share_what_the_larger_one_draws(attacks):
    assert attacks.design(wildcards(name="other_mode")) == "<results>/signals/attacks/wine/designs/main.nc"
    assert "wine/other_mode" not in attacks.sizes()["attacks_draw_contexts"]


def test_poisoned_grids_have_no_more_sets_than_their_arm(attacks):
    files = attacks.poisoned_grids()
    assert list(files) == ["poisoned_main", "poisoned_other_mode"]
    folder = "<results>/signals/attacks/wine/poisoned"
    assert files["poisoned_main"](wildcards()) == [f"{folder}/main/0.nc", f"{folder}/main/1.nc"]
    assert files["poisoned_other_mode"](wildcards()) == [f"{folder}/other_mode/0.nc"]


def test_other_answers_are_of_the_main_arm(attacks):
    assert [path.rsplit("/", 2)[1:] for path in attacks.perturbed(wildcards())] == [
        ["perturbed", "0.nc"],
        ["perturbed", "1.nc"],
    ]
    assert attacks.attribute(wildcards()) == [
        f"<results>/signals/attacks/wine/attribute/{shard}.nc" for shard in (0, 1)
    ]


def test_only_arms_that_protect_a_layer_wait_for_the_ranks(attacks):
    assert attacks.ranks(wildcards(name="main")) == []
    assert attacks.layer(wildcards(name="main")) is None
    assert attacks.ranks(wildcards(name="defended")) == "<results>/scores/attacks/wine/ranks.parquet"
    assert attacks.layer(wildcards(name="defended")) == 5


def test_params_are_those_of_the_arm_or_of_the_study(attacks):
    assert attacks.arm("sets")(wildcards(name="settings")) == 16
    assert attacks.model("weights")(wildcards(name="other_mode")) == f"<results>/models/{DEPLOYED}/weights"
    of_wine = attacks.arm_models(["main", "other_mode"])(wildcards())
    assert of_wine == {
        "main": {"model": SMALL, "mode": "raw"},
        "other_mode": {"model": DEPLOYED, "mode": "as_deployed"},
    }
    assert list(attacks.arm_models(["main", "other_mode"])(wildcards("digits"))) == ["main"]
    assert attacks.keys("sets", "layer") == {"sets": 40, "layer": 5}
    assert attacks.poisoning().keys() == attacks.config["active"].keys() - {"arms", "datasets"}
    assert attacks.attribute_inference()["levels"] == 4
    assert attacks.sensitive(wildcards()) == "alcohol"


def test_attention_is_read_of_the_tables_and_the_model_that_are_named(attacks):
    attacks.run.config["attacks"]["attention"] = {"datasets": [], "model": None, "sets": 40, "shard": 32}
    seen = attacks.attention("main")
    assert seen(wildcards()) == seen(wildcards("digits")) == []
    attacks.run.config["attacks"]["attention"] = {"datasets": ["wine"], "model": None, "sets": 40, "shard": 32}
    folder = "<results>/signals/attacks/wine/attention"
    assert seen(wildcards()) == [f"{folder}/main/0.nc", f"{folder}/main/1.nc"]
    defended = attacks.attention("defended")
    assert seen(wildcards("digits")) == defended(wildcards()) == []
    assert attacks.model_inside("model.json")(wildcards(name="main")) == f"<results>/models/{SMALL}/model.json"
    assert attacks.sizes()["attacks_query_attention"]["wine/main/0"].written == 32 * 150
    attacks.run.config["attacks"]["attention"]["model"] = DEPLOYED
    assert attacks.model_inside("weights")(wildcards(name="main")) == f"<results>/models/{DEPLOYED}/weights"
    assert attacks.model_uses()[DEPLOYED][-1] == {
        "where": "attacks/arms/main, data set wine",
        "rows": 58,
        "features": 13,
    }


def test_models_are_asked_with_their_largest_context_and_most_poisons(attacks):
    uses = attacks.model_uses()
    assert [(use["where"], use["rows"], use["features"]) for use in uses[SMALL]] == [
        ("attacks/arms/main, data set wine", 58, 13),
        ("attacks/arms/main, data set digits", 58, 64),
        ("attacks/arms/settings, data set wine", 54, 13),
        ("attacks/arms/settings, data set digits", 54, 64),
        ("attacks/arms/defended, data set wine", 50, 13),
    ]
    assert uses[DEPLOYED] == [{"where": "attacks/arms/other_mode, data set wine", "rows": 58, "features": 13}]


def test_families_are_main_arms_on_its_contexts_and_estimators(attacks):
    assert attacks.results["families"] == ["<results>/scores/attacks/wine/families.parquet"]
    assert attacks.results["family_means"] == ["<results>/scores/attacks/families.parquet"]
    assert list(attacks.family_grids()) == ["main", "other_mode"]
    assert attacks.fits(wildcards()) == ["<results>/signals/attacks/wine/families.nc"]
    assert attacks.estimators()["mlp"]["estimator"] == "sklearn.neural_network.MLPClassifier"
    fitted = attacks.sizes()["attacks_fit_families"]
    each = [estimator_costs.seconds(entry["estimator"], 50, 13) for entry in attacks.estimators().values()]
    assert fitted == {"wine": size(8 * sum(each), 2 * 8 * 150, 2 * 8 * 150)}
    # Four families: of `main`, as deployed, and two estimators.
    assert attacks.sizes()["attacks_compare_families"]["wine"].work == 19 * 4 * (8 * 100 + 10_000)
    assert "mlp" not in attacks.sizes()["models_fetch_checkpoint"]


def test_without_tables_no_families_are_compared(attacks):
    attacks.config["families"]["datasets"] = ["digits"]
    attacks.config["datasets"] = ["wine"]
    bare = Attacks(attacks.run)
    assert (bare.names["families"], bare.results["families"], bare.fitted) == ([], [], [])
    assert bare.results["family_means"] == []
    assert list(bare.family_grids()) == ["main"]
    assert not bare.sizes()["attacks_fit_families"]


def test_shadow_sets_attack_the_members_of_every_table(attacks):
    assert attacks.shadows() == {"models": 40, "fpr": [0.1, 0.01], "records": {"wine": 100, "digits": 100}}


def test_no_look_up_changes_the_config(attacks):
    before = deepcopy(attacks.run.config)
    attacks.sizes(), attacks.model_uses(), attacks.names, attacks.results
    assert attacks.run.config == before


def test_attention_of_mitigations_is_read_without_and_with_changed_keys(attacks):
    attacks.run.config["attacks"]["attention"] = {"datasets": ["wine"], "model": DEPLOYED, "sets": 40, "shard": 32}
    attacks.run.config["attacks"]["arms"]["defended"]["variants"].append(PLAIN | {"keys": 16})
    folder = "<results>/signals/attacks/wine/attention/defended"
    assert attacks.attention("defended")(wildcards()) == [f"{folder}/0.nc"]  # 16 contexts of two variants
    assert attacks.sizes()["attacks_query_attention"]["wine/defended/0"].written == 32 * 150
    assert attacks.model_inside("weights")(wildcards(name="defended")) == f"<results>/models/{SMALL}/weights"


def test_a_table_that_is_left_out_of_the_perturbation_has_no_noisy_copies(attacks):
    assert attacks.perturbed(wildcards())
    attacks.config["perturbation"]["datasets"] = ["digits"]
    assert attacks.perturbed(wildcards()) == []
    assert {job.split("/")[0] for job in attacks.sizes()["attacks_query_perturbed"]} == {"digits"}
    assert "datasets" not in attacks.perturbing()


def test_a_table_that_is_left_out_of_the_active_attacks_has_no_poisoned_contexts(attacks):
    every = attacks.attacked_arms(wildcards())
    assert every.keys() == set(attacks.arms.poisoned("wine"))
    attacks.config["active"]["datasets"] = ["digits"]
    assert attacks.arms.poisoned("wine") == attacks.poisoned("main")(wildcards()) == []
    assert attacks.attacked_arms(wildcards()) == {"main": every["main"] | {"poisoned": False}}
    assert {job.split("/")[0] for job in attacks.sizes()["attacks_query_poisoned"]} == {"digits"}
    rows = {use["where"]: use["rows"] for use in attacks.model_uses()[SMALL]}
    assert rows["attacks/arms/main, data set wine"] == 50
