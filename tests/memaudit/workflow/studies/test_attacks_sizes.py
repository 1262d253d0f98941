"""Sizes of the jobs of rules/attacks/ on two tables with a few arms."""

import pytest
from attacks_study import DEPLOYED, SMALL, two_tables

from memaudit.workflow.studies.attacks_sizes import Contexts


@pytest.fixture
def attacks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return two_tables()


def test_contexts_are_sized_by_their_variants(attacks):
    small, copied, shared = attacks._size.contexts("wine", "settings")
    # 10 rows ask about 20 records of each side, 50 rows about all; two more copies of half of the 4 targets.
    assert small == (10, 13, 1, 40)
    assert copied == (54, 2, 1, 150)
    assert shared == (50, 13, 1, 50)


def test_each_job_is_sized_by_its_share_of_the_contexts(attacks):
    sizes = attacks.sizes()
    contexts = sizes["attacks_query_contexts"]
    assert contexts["wine/main/0"].written == 32 * 150
    assert contexts["wine/main/1"].written == 8 * 150
    assert contexts["wine/main/0"].work == pytest.approx(4 * contexts["wine/main/1"].work)
    assert sizes["attacks_draw_contexts"]["wine/settings"].work == 48 * 150
    # Bags are queried one by one.
    assert contexts["wine/defended/0"].written == pytest.approx(16 * (4 * 150 + 150))


def test_other_queries_are_sized_by_their_targets(attacks):
    sizes, model = attacks.sizes(), attacks.run.passes(SMALL)
    perturbed = sizes["attacks_query_perturbed"]["wine/0"]
    assert perturbed.written == 16 * 6
    steps, directions = (attacks.config["perturbation"][key] for key in ("steps", "directions"))
    lines = steps * model.operations(50, 6 * directions, 13)
    assert perturbed.work == 16 * (model.operations(50, 6 * (1 + 10 + 5), 13) + lines)
    assert sizes["attacks_query_attribute"]["wine/0"].written == 32 * 400
    # 2 budgets, 5 queries of bisection up to 8 poisons, and on average half of the 8 poisons one by one.
    poisoned = sizes["attacks_query_poisoned"]["wine/main/0"]
    assert poisoned.written == 10 * 4 * (2 + 5 + 4)
    assert poisoned.work == poisoned.written * model.operations(54, 1, 13)


def test_a_forward_pass_is_cut_to_the_memory_that_it_may_have(attacks):
    model = attacks.run.passes(SMALL)
    shapes = [Contexts(1, 400, 10, 4000, 4000)]
    attacks.run.config["memory_mb"] = 10**6
    assert attacks._size._query_size("main", shapes).forward == model.memory_bytes(400, 4000, 10)
    attacks.run.config["memory_mb"] = 0
    assert attacks._size._query_size("main", shapes).forward == model.memory_bytes(400, 100, 10)


def test_statistics_go_over_the_members_at_each_replicate_and_permutation(attacks):
    sizes = attacks.sizes()
    scored = sizes["attacks_compare_attacks"]["digits"]
    assert (scored.work, scored.written, scored.held) == (39 * 4000, 4000, 40 * 150)
    assert list(sizes["attacks_compare_mitigations"]) == ["wine"]
    assert sizes["attacks_average_datasets"][""].work == 0
    assert list(sizes["models_fetch_checkpoint"]) == [SMALL, DEPLOYED]


def test_a_deployed_model_is_asked_about_each_target_apart(attacks):
    attacks.config["arms"]["main"]["model"] = DEPLOYED
    model, noise = attacks.run.passes(DEPLOYED), attacks.config["perturbation"]
    perturbed = attacks.sizes()["attacks_query_perturbed"]["wine/0"]
    assert perturbed.written == 16 * 6
    copies, lines = (50, 1 + 10 + 5, 13), (50, noise["directions"], 13)
    for name, of in (("work", model.operations), ("seconds", model.seconds)):
        assert getattr(perturbed, name) == pytest.approx(16 * 6 * (of(*copies) + noise["steps"] * of(*lines)))
