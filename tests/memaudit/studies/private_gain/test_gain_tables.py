"""Tables are cut so that samples are nested, and repeats test disjoint records that no sample holds."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.common.project_paths import PROJECT
from memaudit.studies.private_gain.gain_tables import LARGEST, REPEATS, gain_table

SHIPPED = PROJECT / "resources/tables"


@pytest.mark.parametrize("name", ["credit-g", "digits"])
def test_repeats_test_disjoint_records_that_are_never_private(name):
    table = gain_table(name, SHIPPED)
    splits = [table.split(repeat) for repeat in range(REPEATS)]
    tested = np.concatenate([one for one, _ in splits])
    assert len(set(tested)) == len(tested) == REPEATS * len(splits[0][0])
    for places, drawn in splits:
        assert len(set(drawn)) == LARGEST[name] == table.sizes[-1]
        assert not set(places) & set(drawn)
    assert set(splits[0][1]) != set(splits[1][1])


def test_the_private_records_have_the_size_of_the_sample_as_their_public_one():
    table = gain_table("credit-g", SHIPPED)
    places = table.split(0)[1][:250]
    private = table.private(places)
    assert private.public.records == 250 == len(set(private.units))
    np.testing.assert_array_equal(private.x, table.x[places])
    assert not np.isnan(table.x[:, table.public.numeric]).any()


def test_a_missing_file_and_an_unknown_class_are_named(tmp_path):
    with pytest.raises(AuditError, match="TABLES=folder"):
        gain_table("adult", tmp_path)
    (tmp_path / "phoneme.csv").write_text("V1,V2,V3,V4,V5,Class\n1,1,1,1,1,0\n1,1,1,1,1,9\n")
    (tmp_path / "phoneme.csv").rename(tmp_path / "phoneme.csv.gz")
    import gzip

    (tmp_path / "phoneme.csv.gz").write_bytes(gzip.compress((tmp_path / "phoneme.csv.gz").read_bytes()))
    with pytest.raises(AuditError, match="1 records have a class"):
        gain_table("phoneme", tmp_path)
