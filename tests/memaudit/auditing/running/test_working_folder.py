"""The private folder of an audit, and faults of its disk in one line."""

import errno
import stat

import duckdb
import pytest

from memaudit.auditing.running.working_folder import in_one_line, private
from memaudit.common.errors import AuditError


def test_a_folder_is_locked_during_an_audit(tmp_path):
    again = pytest.raises(AuditError, match="another audit is running")
    with private(tmp_path / "into"), again, private(tmp_path / "into"):
        pass
    with private(tmp_path / "into"):
        pass


def test_the_working_folder_is_never_committed_and_the_owners_alone(tmp_path):
    with private(tmp_path / "into"):
        assert (tmp_path / "into/.gitignore").read_text() == "*\n"
        assert stat.S_IMODE((tmp_path / "into").stat().st_mode) == 0o700


@pytest.fixture
def planted(tmp_path):
    """Make a link in a folder that an audit has made, and open it; returns the error's line."""

    def plant(name, target):
        folder = tmp_path / "into"
        with private(folder):
            pass
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        with pytest.raises(AuditError) as error, private(folder):
            pass
        return str(error.value)

    return plant


@pytest.mark.parametrize("name", [".gitignore", "table", "results", "snakemake.log", "results/quick/logs/a.log"])
def test_a_planted_link_is_never_followed(planted, tmp_path, name):
    (tmp_path / "victim").write_text("mine")
    assert "is a link out of the audit's folder" in planted(name, tmp_path / "victim")
    assert (tmp_path / "victim").read_text() == "mine"


def test_a_planted_link_within_the_folder_is_not_written_through(planted, tmp_path):
    assert "cannot be written" in planted(".gitignore", "schema.yaml")
    assert not (tmp_path / "into/schema.yaml").exists()


def test_the_link_to_the_table_is_left_alone(tmp_path):
    with private(tmp_path / "into"):
        (tmp_path / "into/table").mkdir()
        (tmp_path / "into/table/source.csv").symlink_to(tmp_path / "t.csv")
    with private(tmp_path / "into"):
        pass


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_planted_name_of_an_intakes_folder_is_removed_and_not_followed(tmp_path, kind):
    left = tmp_path / "into/table/.read-x"
    with private(tmp_path / "into"):
        (tmp_path / "into/kept").mkdir()
        left.parent.mkdir()
        left.symlink_to(tmp_path / "into/kept") if kind == "link" else left.touch()
    with private(tmp_path / "into"):
        assert not left.is_symlink()
        assert not left.exists()
        assert (tmp_path / "into/kept").is_dir()


@pytest.mark.parametrize("place", ["table/.read-a/source.csv", "table/.read-b/tmpx/source.csv"])
def test_what_a_killed_intake_has_left_is_removed(tmp_path, place):
    left = tmp_path / "into" / place
    with private(tmp_path / "into"):
        left.parent.mkdir(parents=True)
        left.symlink_to(tmp_path / "t.csv")
        (left.parent / "raw.parquet").write_text("cells")
    with private(tmp_path / "into"):
        assert not any((tmp_path / "into/table").iterdir())


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (OSError(errno.ENOSPC, "", "a/table.parquet"), "a/table.parquet: no space left on device; free some"),
        (duckdb.OutOfMemoryException("Out of Memory Error: x"), "out of memory; read fewer rows with --rows"),
        (AuditError("as it is"), "^as it is$"),
    ],
)
def test_a_fault_of_the_machine_is_one_line(tmp_path, fault, line):
    with pytest.raises(AuditError, match=line), in_one_line(tmp_path):
        raise fault


def test_a_fault_that_nobody_has_foreseen_keeps_its_traceback(tmp_path):
    with pytest.raises(ZeroDivisionError), in_one_line(tmp_path):
        1 / 0  # noqa: B018
