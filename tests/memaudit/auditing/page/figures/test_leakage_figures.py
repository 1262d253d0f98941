"""What was measured is drawn filled, what is extrapolated as a ring."""

from audit_examples import DEPLOYED, GROWTH

from memaudit.auditing.page.figures.leakage_figures import by_contexts, by_size


def test_a_limit_is_a_ring_beyond_what_was_measured():
    one = by_contexts(GROWTH, "RMIA")
    assert (one.drawing.count('class="dot"'), one.drawing.count('class="ring"')) == (3, 1)
    assert "0.66 [0.61, 0.71] with 16, 0.70 [0.65, 0.75] with 64. The ring is extrapolated (many): 0.74" in one.caption
    assert ">many</text>" in one.drawing


def test_a_deployed_context_stands_at_its_number():
    one = by_size(DEPLOYED, "LiRA")
    assert "The ring is extrapolated (500, as deployed): 0.64 [0.58, 0.70]" in one.caption
    assert ">500</text>" in one.drawing


def test_without_a_limit_there_is_no_ring_and_one_size_is_no_picture():
    told = GROWTH.model_copy(update={"auc": None, "reason": "too few"})
    assert 'class="ring"' not in by_contexts(told, "RMIA").drawing
    alone = by_size(DEPLOYED.model_copy(update={"measured": DEPLOYED.measured[:1]}), "LiRA")
    assert alone.reason == "the AUC was measured for one number of records of a context alone"
