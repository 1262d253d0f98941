"""Time and memory to fetch, deduplicate, split and check a large CSV, against plain pandas.

python workflow_scripts/bench/deduplicate.py --output deduplicate.json \
    --params '{"rows": 10000000, "peer_rows": 1000000, "scratch": "/tmp"}'

Each step runs in a process of its own, as in the workflow; its peak is the kernel's (ru_maxrss).
"""

import hashlib
import tempfile
import time
from pathlib import Path

import pandas as pd

from memaudit.common.io import read_json, read_table, write_json, write_table
from memaudit.common.seeds import generator
from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.duckdb_engine import connect, literal
from memaudit.data.member_splits import split_records
from memaudit.data.split_contents import read_contents
from memaudit.data.table_sources import fetch
from memaudit.statistics.split_balance import balance_rows
from memaudit.workflow.bench_card import in_own_process, peak_mib, write_card
from memaudit.workflow.job import run

KEY = b"benchmark"
SPLIT = {"members": 0.8, "nonmembers": 0.2}
# 1 % of the rows are exact copies, and 1 % have another label than an earlier row with the same features.
TABLE = """
    SELECT hash(row) % 100000 / 100.0 AS income, hash(row, 1) % 80 + 18 AS age, hash(row, 2) % 1000000 / 1e6 AS score,
    hash(row, 3) % 52 AS weeks, 'region ' || hash(row, 4) % 50 AS region, 'job ' || hash(row, 5) % 200 AS job,
    hash(row, 6) % 2 = 0 AS married, DATE '2000-01-01' + CAST(hash(row, 7) % 8000 AS INTEGER) AS since,
    (hash(row, 8) % 4 = 0) <> (number % 100 = 1) AS target
    FROM (SELECT range AS number, CASE WHEN range % 100 < 3 THEN range - range % 100 ELSE range END AS row
          FROM range({rows}))
"""


def main(job):
    with tempfile.TemporaryDirectory(dir=job.params.scratch) as folder:
        large = measure_ours(Path(folder, "large"), job.params.rows)
        small = measure_ours(Path(folder, "small"), job.params.peer_rows)
        csv = Path(folder, "small", "table.csv")
        peer = {"rows": job.params.peer_rows, "steps": {"pandas": measure(plain_pandas, csv)}}
    total = [sum(step["seconds"] for step in part["steps"].values()) for part in (small, peer)]
    peak = [max(step["peak_mib"] for step in part["steps"].values()) for part in (small, peer)]
    ratio = {"peer_seconds_over_ours": total[1] / total[0], "peer_memory_over_ours": peak[1] / peak[0]}
    write_card({"ours": [small, large], "peer": peer, "ratio": ratio}, job.output[0], ("duckdb", "pandas"))
    print(Path(job.output[0]).read_text())


def measure_ours(folder, rows):
    folder.mkdir()
    measure(make_csv, folder, rows)
    steps = {
        step.__name__: measure(step, folder) for step in (fetch_table, deduplicate_table, split_table, check_table)
    }
    return {"rows": rows, "csv_mib": (folder / "table.csv").stat().st_size / 2**20, "steps": steps}


def measure(step, *arguments):
    """Seconds and peak memory of a step in a fresh process."""
    return in_own_process(timed, step, *arguments)


def timed(step, *arguments):
    start = time.perf_counter()
    step(*arguments)
    seconds = time.perf_counter() - start
    return {"seconds": round(seconds, 2), "peak_mib": int(peak_mib())}


def make_csv(folder, rows):
    with connect(folder) as connection:
        connection.execute(f"COPY ({TABLE.format(rows=rows)}) TO {literal(folder / 'table.csv')} (HEADER)")


def fetch_table(folder):
    fetch({"source": "file", "path": str(folder / "table.csv")}, folder / "raw.parquet", folder)


def deduplicate_table(folder):
    policy = Policy(task="classification", target="target", types={}, conflicts="drop_both")
    schema, counts = deduplicate(folder / "raw.parquet", folder / "records.parquet", KEY, policy, "benchmark")
    write_json(schema, folder / "schema.json")
    print({row["metric"]: row["estimate"] for row in counts})


def split_table(folder):
    records = read_table(folder / "records.parquet", columns=["id", "target"])
    write_table(split_records(records, SPLIT, generator(0, "split")), folder / "split.parquet")


def check_table(folder):
    schema = read_json(folder / "schema.json")
    rng = generator(0, "checks")
    contents = read_contents(folder / "records.parquet", folder / "split.parquet", schema, rng)
    balance_rows(contents, {"dataset": "b"}, rng)


def plain_pandas(csv):
    """The naive way: everything in memory, ids by a loop over rows."""
    table = pd.read_csv(csv, parse_dates=["since"]).drop_duplicates()
    features = [name for name in table if name != "target"]
    table = table[~table.duplicated(features, keep=False)]
    ids = [
        hashlib.blake2b(repr(row).encode(), key=KEY, digest_size=16).hexdigest()
        for row in table.itertuples(index=False)
    ]
    members = table.assign(id=ids).groupby("target").sample(frac=SPLIT["members"], random_state=0)
    table.assign(id=ids, member=table.index.isin(members.index)).to_parquet(csv.with_suffix(".parquet"))


if __name__ == "__main__":
    run(main, globals())
