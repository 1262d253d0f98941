"""The command line of `./memaudit audit`: what is asked, and what is said on the screen."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from memaudit.auditing import runner, source_file
from memaudit.auditing.intake import MOST_ROWS, Request
from memaudit.auditing.model_choice import SHIPPED
from memaudit.errors import AuditError, printable

SHOWN = 40  # columns on the screen


class Parser(argparse.ArgumentParser):
    """Ends with one line, not with the whole usage."""

    def error(self, message: str) -> None:
        """Say what is wrong and exit with 2."""
        print(f"memaudit: {message}; see ./memaudit audit --help", file=sys.stderr)
        sys.exit(2)


def main(arguments: Sequence[str]) -> int:
    """Run a command line; the exit code."""
    own, rest = _parted(list(arguments))
    options = _parser().parse_args(own)
    folder = source_file.expanded(options.into or f"audit-{source_file.stem(options.table)}").absolute()
    request = Request(
        options.table,
        options.target,
        **{key: getattr(options, key) for key in ("group", "by", "drop", "categorical", "missing", "delimiter")},
        encoding=options.encoding,
        seed=options.seed,
        rows=options.rows,
    )
    chosen = {key: getattr(options, key) for key in ("threats", "minutes", "quick", "shown", "show_values", "cores")}
    chosen |= {"epsilons": options.epsilon, "public": options.public, "finetune": options.finetune}
    settings = runner.Settings(folder, models=options.model, base_rates=options.base_rates, snakemake=rest, **chosen)
    try:
        runner.run(request, settings, tell)
    except AuditError as error:
        print(f"memaudit: {printable(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("memaudit: stopped; the same command goes on where it was", file=sys.stderr)
        return 130
    print(f"memaudit: the page is {str(folder / 'report.html')!a}")
    return 0


def _parted(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Our arguments, and after `--` those for Snakemake; --profile NAME is one of these wherever it stands."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    own, rest = arguments[:place], arguments[place + 1 :]
    if "--profile" in own[:-1]:
        at = own.index("--profile")
        own, rest = own[:at] + own[at + 2 :], [*own[at : at + 2], *rest]
    return own, rest


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="./memaudit", description="What does a model give away of the records in its context?")
    commands = parser.add_subparsers(dest="command", required=True, metavar="audit")
    audit = commands.add_parser("audit", help="audit a table", description="Audit a table; docs/audit.md says more.")
    audit.add_argument("table", metavar="TABLE", help="a CSV (may be gzipped) or Parquet file")
    audit.add_argument("--target", required=True, metavar="COLUMN", help="the column that the model predicts")
    audit.add_argument("--group", metavar="COLUMN", help="the person or household that several rows belong to")
    audit.add_argument("--by", nargs="+", default=[], metavar="COLUMN", help="compare the leakage of its categories")
    audit.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help="columns that the model never sees")
    audit.add_argument("--categorical", nargs="+", default=[], metavar="COLUMN", help="columns that are categories")
    audit.add_argument("--missing", nargs="+", default=[], metavar="WORD", help="words that mean a missing value")
    audit.add_argument("--delimiter", help="of a CSV file; else found in its first line")
    audit.add_argument("--encoding", help="of a CSV file; else utf-8")
    audit.add_argument(
        "--threats",
        nargs="+",
        default=["labels", "probabilities"],
        choices=["labels", "probabilities", "poison"],
        help="what an adversary may have; poison: he may add rows to the context",
    )
    audit.add_argument(
        "--model",
        nargs="+",
        default=[SHIPPED],
        help="of the catalogue, a TabPFN or TabICL file, or a classifier's import path; the first is audited",
    )
    audit.add_argument(
        "--epsilon",
        nargs="+",
        type=_positive,
        default=[],
        help="try contexts with differential privacy: what they are worth, and what they give away",
    )
    audit.add_argument("--public", metavar="FILE", help="published bounds and categories for --epsilon")
    audit.add_argument("--finetune", action="store_true", help="fine-tune the model on records and probe its memory")
    audit.add_argument("--base-rates", nargs="+", type=_share, default=[0.01, 0.1, 0.5], metavar="SHARE")
    audit.add_argument("--minutes", type=_positive, default=5.0, help="the time that may be spent; 5")
    audit.add_argument("--quick", action="store_true", help="the first numbers alone")
    audit.add_argument("--rows", type=_count, default=MOST_ROWS, help=f"most rows that are taken in; {MOST_ROWS}")
    audit.add_argument("--shown", type=_count, default=20, help="most exposed records on the page; 20")
    audit.add_argument("--show-values", action="store_true", help="show names of classes and categories on the page")
    audit.add_argument("--into", metavar="FOLDER", help="the private working folder; else audit-TABLE")
    audit.add_argument("--seed", type=int, default=0, help="0")
    audit.add_argument("--cores", type=_count, help="else all")
    return parser


def _share(text: str) -> float:
    if not 0 < (value := float(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no share between 0 and 1")
    return value


def _positive(text: str) -> float:
    if not 0 < (value := float(text)) < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no positive number")
    return value


def _count(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def tell(what: str, found: Any) -> None:
    """Say on the screen how the table was read, or what a stage has found."""
    lines = _schema(found) if what == "schema" else _numbers(found)
    print("\n".join(f"memaudit: {printable(line)}" for line in lines), flush=True)


def _schema(facts: dict[str, Any]) -> list[str]:
    taken, told = facts["taken"], facts["rows"] - facts["without_target"]
    sample = f"; {taken} of them are taken, at random" if taken < told else ""
    lines = [f"{facts['rows']} rows, {told} with a target ({facts['task']}){sample}"]
    columns = list(facts["columns"].values())
    width = min(40, max(len(ascii(one["name"])) for one in columns))
    for one in columns[:SHOWN]:
        why = "" if one["use"] else f"  left out: {facts['left_out'].get(one['name'], 'by your choice')}"
        lines.append(f"  {ascii(one['name'])[:40]:{width}}  {one['type']}{why}")
    if len(columns) > SHOWN:
        lines.append(f"  ... and {len(columns) - SHOWN} more")
    return [*lines, "is a column read wrongly? edit schema.yaml in the audit's folder and give the command again"]


def _numbers(summary: dict[str, Any]) -> list[str]:
    main = next(
        one
        for one in summary["adversaries"]
        if (one["model"], one["records"], one["attack"]) == ("main", "members", "lira")
    )
    auc, strict = main["auc"], main["tpr"][f"{summary['fpr']:g}"]["detected"]
    verdict = "a leak" if auc["detected"] else "no leak told from chance"
    if any(one["records"] == "placebo" and one["auc"]["detected"] for one in summary["adversaries"]):
        verdict = "but the attack also finds records that are in no context: do not use these numbers"
    lines = [
        f"{'first numbers' if summary['stage'] == 'quick' else 'result'}: AUC {auc['estimate']:.2f} [{auc['low']:.2f}, "
        f"{auc['high']:.2f}], chance {auc['null']:.2f}: {verdict}"
    ]
    for rate, value in main["precision"].items():
        share = [f"{100 * value[key]:.0f}" for key in ("estimate", "low", "high", "null")]
        lines.append(
            f"of 100 accused, {share[0]} [{share[1]}, {share[2]}] are in the data, if {100 * float(rate):g} of 100 "
            f"suspects are; without a leak {share[3]}{'' if strict else ' (not told from chance)'}"
        )
    if summary["stage"] == "full":
        lines += [one["text"] for one in summary["advice"]]
    return lines
