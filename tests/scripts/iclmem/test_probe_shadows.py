"""Shadow models of one condition on a tiny table: halves, shards and resumption."""

import numpy as np
import pytest
import xarray as xr
from wine_probes import call_shadows

from memaudit.studies.iclmem.model_probing import Prober

pytestmark = pytest.mark.usefixtures("one_thread")
NAMES = ("probe", "in_context", "member", "assigned", "base_probe", "id", "pair", "control")


@pytest.fixture(scope="module")
def shadows(world, tmp_path_factory):
    return call_shadows(world, tmp_path_factory.mktemp("shadows") / "0.nc")


def same(first, second):
    for name in NAMES:
        np.testing.assert_array_equal(first[name].values, second[name].values, err_msg=name)


def test_each_record_is_in_half_of_the_models_and_a_control_in_none(shadows):
    assert (shadows.assigned.values.mean(0) == 0.5).all()
    trained = ~shadows.control.values
    assert (shadows.member.values == (shadows.assigned.values & trained)[:, None]).all()
    assert np.isfinite(shadows.probe).all()
    assert (shadows.in_context.sel(stage=0).values == shadows.in_context.sel(stage=0).values[:1]).all()


def test_models_with_other_members_answer_otherwise(shadows):
    last = shadows.in_context.sel(stage=2).values[:, :, 0]
    assert np.ptp(last, axis=0).min() > 0
    change = last - shadows.in_context.sel(stage=0).values[:, :, 0]
    assert abs(change).max() > 1e-4


def test_nothing_depends_on_the_shard(world, shadows, tmp_path):
    shards = [call_shadows(world, tmp_path / f"{at}.nc", shard=str(at), models_per_job=2) for at in range(2)]
    assert [shard.model.values.tolist() for shard in shards] == [[0, 1], [2, 3]]
    same(shadows, xr.concat(shards, "model", data_vars="minimal", coords="minimal", compat="override"))


def test_a_killed_job_goes_on_with_the_same_bits(world, shadows, tmp_path, monkeypatch):
    probe, calls = Prober.probe, []

    def killed(*arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return probe(*arguments)

    monkeypatch.setattr(Prober, "probe", killed)
    with pytest.raises(KeyboardInterrupt):
        call_shadows(world, tmp_path / "0.nc")
    same(shadows, call_shadows(world, tmp_path / "0.nc"))
    assert len(calls) < 4 + 9  # signals from before the kill are not computed again
    assert not list(tmp_path.rglob("state.pt"))
