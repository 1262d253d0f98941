"""Sentences of a page of first numbers that state a number or a comparison, from its result files by code of its own.

`faults(folder)` names each sentence that the page lacks, and what it states with a number that no result explains.
It reads the table, its split, contexts, answers and tidy results; neither summary.json nor the code of the page.
"""

import json
import re
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
import yaml

BLOCKS = {"p", "li", "dt", "dd", "tr", "h1", "h2", "h3", "caption", "summary", "div", "section", "ul", "table"}
HIDDEN = {"style", "script", "svg"}
# Sections whose numbers are settings, hashes and words of a glossary, not findings.
APART = {"annex", "glossary"}
# Numbers that stand on every page: what a term means, levels of tests and intervals, names of norms.
FIXED = re.compile(
    r"95 %|p ≤ 0\.05|0\.5 is guessing, 1 is certainty|at 0\.5 the attack guesses|one in 20 audits|probability 1,"
    r"|probability of at least about 0\.8|about 0\.8; a smaller one|with probability 0\.8|At the dashed line, 0,"
    r"|\(from 1, the header|excludes 0\b|above 0\b|0\.4 to 1\b|(100 )?of 100\b|100 accused|where it would be 0"
    r"|at most 2 points|with a precision of 90 % or more|test at 5 %|\d+ classes"
    r"|WP216|Article 29|Opinion [\d/]+|section 3:|ISO/IEC \S+, [\d.]+( and [\d.]+)?|SP 800-226 \(2025\)"
    r"|sha256 \w+|memaudit [\d.]+|commit \w+|Date 20\d\d-\d\d-\d\d"
)


class _Text(HTMLParser):
    """The text of each block of a page, without drawings, and without the notes that a term shows on pointing at it."""

    def __init__(self):
        super().__init__()
        self.blocks, self.hidden, self.apart, self.depth = [""], 0, False, []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        note = tag == "span" and given.get("class") == "tip"
        self.depth.append((tag, tag in HIDDEN or note))
        self.hidden += self.depth[-1][1]
        if tag == "section":
            self.apart = given.get("id") in APART
        if tag in BLOCKS:
            self.blocks.append("")
        if tag in ("td", "th"):
            self.handle_data(" | ")

    def handle_endtag(self, tag):
        while self.depth:
            ended, hidden = self.depth.pop()
            self.hidden -= hidden
            if ended == tag:
                break
        if tag in BLOCKS:
            self.blocks.append("")

    def handle_data(self, data):
        if not self.hidden and not self.apart:
            self.blocks[-1] += data


def blocks(page):
    """Texts of the page's blocks, without line breaks."""
    read = _Text()
    read.feed(page)
    return [text for text in (" ".join(one.split()) for one in read.blocks) if text]


def fixed(number, digits=2):
    """A number without the sign of a zero."""
    return f"{round(number, digits) + 0.0:.{digits}f}"


class Row:
    """A result: estimate, interval and chance, and whether it is beyond chance by its p-value and its interval."""

    def __init__(self, table, metric):
        found = table[table["metric"] == metric].iloc[0]
        self.estimate, self.low, self.high = (float(found[key]) for key in ("estimate", "low", "high"))
        self.null, self.method, self.n = float(found["null"]), found["method"], int(found["n"])
        p = table.loc[table["metric"] == f"{metric} p-value", "estimate"]
        self.p = float(p.iloc[0]) if len(p) else None

    @property
    def detected(self):
        """As the page defines it: p is at most .05, and the interval lies above chance."""
        return self.p <= 0.05 and self.low > self.null

    def shown(self, digits=2, scale=1):
        """ "0.71 [0.65, 0.77]"."""
        low, middle, high = (fixed(scale * one, digits) for one in (self.low, self.estimate, self.high))
        return middle if np.isnan(self.low) else f"{middle} [{low}, {high}]"


class Results:
    """Result files of the last stage of an audit."""

    def __init__(self, folder):
        self.folder = Path(folder)
        config = next(path for path in (self.folder / f"{stage}.yaml" for stage in ("full", "quick")) if path.exists())
        self.stage, self.config = config.stem, yaml.safe_load(config.read_text())
        self.made = self.folder / "results" / self.stage
        self.facts = json.loads((self.folder / "table/facts.json").read_text())
        self.fpr = self.config["audit"]["fpr"]
        self.page = blocks((self.folder / "report.html").read_text(encoding="utf-8"))

    def tidy(self, name):
        """A tidy table with the keys of its settings as columns."""
        table = pd.read_parquet(self.made / "scores/audit/table" / f"{name}.parquet")
        keys = [dict(part.split("=") for part in text.split(", ")) for text in table["setting"]]
        return pd.concat([table, pd.DataFrame(keys, index=table.index)], axis=1)

    @cached_property
    def threats(self):
        return self.tidy("threats")

    @cached_property
    def numbers(self):
        return self.facts["kind"] == "regression"

    @cached_property
    def risk(self):
        return pd.read_parquet(self.folder / "risk.parquet")

    @cached_property
    def records(self):
        return pd.read_parquet(self.made / "data/table/records.parquet")

    @cached_property
    def sides(self):
        return pd.read_parquet(self.made / "data/table/splits/audit.parquet")["side"]

    @cached_property
    def table(self):
        """The rows of the table with a target, with the columns that are used and the target."""
        table = pd.read_parquet(self.folder / "table/table.parquet")
        used = [name for name, column in self.facts["columns"].items() if column["use"]]
        return table[table["target"].notna()][[*used, "target"]]

    @cached_property
    def answers(self):
        """Answers of the audited model in the contexts of the headline."""
        parts = sorted((self.made / "signals/attacks/table/main").glob("*.nc"), key=lambda path: int(path.stem))
        grid = xr.concat([xr.open_dataset(part).load() for part in parts], "model", data_vars="minimal")
        return grid.isel(model=np.unique(grid["set"].values, return_index=True)[1])

    def of(self, records, attack="strongest", **keys):
        """Results of an attack on some records."""
        table = self.threats
        rows = (table["model"] == "main") & (table["records"] == records) & (table["attack"] == attack)
        rows &= ~table["threat"].astype(str).str.startswith("white-box")
        for key, value in keys.items():
            rows &= table[key.replace("_", " ")] == value
        return table[rows]

    @cached_property
    def persons(self):
        """Whether several rows are accused together."""
        return len(self.of("persons")) > 0

    @cached_property
    def main(self):
        """Results of the headline."""
        return self.of("persons" if self.persons else "members")

    @cached_property
    def alike(self):
        """Whether these are rows that differ in the target alone."""
        return self.persons and not self.facts["group"]

    @property
    def accused(self):
        """What is accused."""
        return "persons" if self.persons and not self.alike else "records"

    @property
    def rows(self):
        """What rows are called."""
        return "rows" if self.alike else "records"


def percent(row):
    """ "71 [65, 77]": a share of 100."""
    return row.shown(0, 100)


def base_rates(results):
    """Precision of the headline by base rate, as numbers in percent."""
    rates = sorted(map(float, results.config["audit"]["base_rates"]))
    return {rate: Row(results.main[results.main["base rate"].astype(float) == rate], "precision") for rate in rates}


def counted(results) -> Iterator[str]:
    """Counts of rows, records and contexts, from the table, its split and the contexts themselves."""
    table, facts, sides = results.table, results.facts, results.sides
    rated, queried, showing = int((sides == "members").sum()), len(sides), results.risk
    assert len(showing) == rated
    showing = int(((showing["low"] > 0) | (showing["high"] < 0)).sum())
    repeated = int(table.duplicated().sum())
    left = len(table) - repeated
    contexts = xr.open_dataset(results.made / "signals/attacks/table/designs/main.nc")
    inside = float((contexts["counts"].values > 0).sum(axis=1).mean())
    size = f"{'about ' * results.persons}{inside:.0f}"
    rows = results.rows
    yield f"{rows.capitalize()} rated {rated}, of a table of {facts['rows']} rows (counts)"
    yield f"Shadow contexts {contexts.sizes['model']}, of {size} {rows} each"
    yield f"{rows.capitalize()} whose presence shows {showing} of {rated}: the interval"
    yield f"The numbers hold for contexts of {size} {rows} drawn from this table."
    yield f"audited with contexts of {inside:.0f} {rows}"
    yield f"build {contexts.sizes['model']} shadow contexts"
    yield f"{facts['rows']} rows, {table.shape[1] - 1} columns and the target"
    yield f"Share of {rated} rated {rows} whose presence shows | {showing / rated:.3f} | - | no test"
    yield f"{rated} of {facts['rows']} rows are rated; the maximum of the others is unknown."
    again = f"{repeated} {'repeats' if repeated == 1 else 'repeat'} another row and {'is' if repeated == 1 else 'are'}"
    drawn = f"; of the {left} others {queried} were drawn at random, the rest is not rated" * (queried < left)
    known = facts["rows"] - facts["without_target"]
    sampled = f", of which {len(table)} were drawn at random" * (len(table) < known)
    yield (
        f"Counts: of {facts['rows']} rows {known} have a target{sampled}; {again} left out{drawn}. Of {queried} {rows} "
        f"that were queried {rated} are rated; the other {queried - rated} are in no context"
    )
    if needed := results.config["audit"]["plan"].get("whole"):
        yield f"on this computer about {needed} minutes would do"
    listed = results.risk.nlargest(min(results.config["audit"]["shown"], rated), "vulnerability")
    filled = int(listed["shows"].sum())
    yield f"The {len(listed)} {rows} of {rated} with the largest vulnerability scores"
    yield f"({filled} of these {len(listed)}, {showing} of all {rated})"
    yield f"The {len(listed)} most vulnerable of {rated} {rows}."
    yield from list_of_records(results, listed)
    if results.alike:
        features = [name for name in table if name != "target"]
        distinct = table.drop_duplicates()
        alike = int((distinct.groupby(features, dropna=False)["target"].transform("nunique") > 1).sum())
        yield f"{alike} of the {left} different rows have the same features as another one and a different target:"
    if repeated:
        rest = (
            f"{repeated} rows that are equal to others were"
            if repeated > 1
            else "1 row that is equal to another one was"
        )
        yield f"{rest} left out of the contexts"


def list_of_records(results, listed) -> Iterator[str]:
    """The lines of the table of the most vulnerable records, and their head."""
    rates = [f"{rate:g}" for rate in base_rates(results)]
    axis = (np.floor(min(0, listed["low"].min())), np.ceil(max(1, listed["high"].max())))
    yield "| {:g} to {:g} |".format(*axis) + "".join(f" Posterior from {100 * float(rate):g} % |" for rate in rates)
    for one in listed.to_dict("records"):
        posteriors = "".join(f" {posterior(one[f'posterior_{rate}'])} |" for rate in rates)
        low, middle, high = (fixed(one[key], 1) for key in ("low", "vulnerability", "high"))
        shows = "yes" if one["low"] > 0 or one["high"] < 0 else "no"
        yield f"| {one['row']} | {middle} [{low}, {high}] | |{posteriors} {shows}"


def posterior(share):
    """ "88 %", without a claim of certainty."""
    return "over 99 %" if share >= 0.995 else "under 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def first_screen(results) -> Iterator[str]:
    """The headline and the numbers below it."""
    main, fpr, who = results.main, 100 * results.fpr, results.accused
    auc, strict = Row(main, "auc"), Row(main, f"tpr@{results.fpr:g}")
    rate, worth = max(base_rates(results).items())
    passed = f"at a threshold that also accuses {fpr:g} of 100 who are not in the data"
    right = f"{percent(worth)} are really in the data, if {100 * rate:g} of 100 candidates are"
    if auc.detected and strict.detected:
        yield f"Of 100 {who} that an adversary identifies as members, {passed}, {right}."
        yield f"Without a leak the same attack would be right for {100 * rate:g}."
    elif auc.detected:
        yield f"in {percent(auc)} of 100 comparisons, by chance in {100 * auc.null:.0f}."
        passed = passed.removeprefix("at a threshold ")
        yield f"At a strict threshold, {passed}, the attack is not distinguishable from chance."
    elif strict.detected:
        yield "accusations are right more often than by chance:"
    else:
        yield f"Of 100 {who} identified as members, {passed}, {right};"
    yield f"of the strongest score {auc.shown()} (chance {fixed(auc.null)})"
    if results.persons:
        rows = results.of("members")
        row = Row(rows, "auc")
        yield f"The same by row {row.shown()} (chance {fixed(row.null)})"
        yield f"AUC {row.shown()}, and"
        each = [Row(rows[rows["base rate"].astype(float) == one], "precision") for one in base_rates(results)]
        yield ", ".join(
            f"{percent(one)} of 100 accused rows are in the data at a base rate of {100 * at:g} %"
            for at, one in zip(base_rates(results), each, strict=True)
        )
    yield from quality(results)


def quality(results) -> Iterator[str]:
    """Accuracy, or error, of the model: its answers about records in no context, computed anew."""
    table = results.threats
    found = table[(table["records"] == "non-members") & (table["model"] == "main")]
    others = results.answers.isel(record=~results.answers.member.values)
    name = results.config["audit"]["models"]["main"]
    if results.numbers:
        rmse, r2 = Row(found, "rmse"), Row(found, "r2")
        truth, said = others["label"].values, others["prediction"].values
        off = np.sqrt(((said - truth) ** 2).mean())
        assert abs(off - rmse.estimate) < 0.02 * off
        assert abs(1 - (off / truth.std()) ** 2 - r2.estimate) < 0.02
        digits = max(0, 2 - int(np.floor(np.log10(rmse.estimate))))
        assert abs(truth.std() - rmse.null) < 0.02 * rmse.null
        errors = f"{rmse.shown(digits)} (predicting the mean: {fixed(rmse.null, digits)})"
        yield f"Error of {name} root mean square error {errors}"
        yield f"R² {r2.shown()}, on {results.rows} that are in no context"
        return
    accuracy, balanced = Row(found, "accuracy"), Row(found, "balanced accuracy")
    right = others["logits"].values.argmax(-1) == others["label"].values
    each = [right[:, others["label"].values == one].mean() for one in np.unique(others["label"])]
    assert abs(right.mean() - accuracy.estimate) < 1e-6
    assert abs(np.mean(each) - balanced.estimate) < 1e-6
    share = others["label"].to_series().value_counts(normalize=True)
    assert abs(share.max() - accuracy.null) < 1e-6
    assert abs(1 / len(share) - balanced.null) < 1e-6
    yield (
        f"Accuracy of {name} {accuracy.shown()} (always the most frequent class: {fixed(accuracy.null)}), "
        f"balanced {balanced.shown()} (chance {fixed(balanced.null)}), on {results.rows} that are in no context"
    )


def accusations(results) -> Iterator[str]:
    """How often an accusation is right: precision is what TPR, FPR and base rate give."""
    tpr = Row(results.main, f"tpr@{results.fpr:g}")
    strict = "" if tpr.detected else " Not distinguishable from chance."
    for rate, worth in base_rates(results).items():
        right = rate * tpr.estimate / (rate * tpr.estimate + (1 - rate) * results.fpr)
        assert abs(right - worth.estimate) < 0.03, (rate, right, worth.estimate)
        at = f"if {100 * rate:g} of 100 candidates are. Without a leak: {100 * rate:g}.{strict}"
        yield f"{percent(worth)} of 100 accused are in the data, {at}"
    hundred = tpr.shown(1, 100)
    yield f"identifies {hundred} of 100 who are in the data; without a leak it would identify {100 * results.fpr:g}."
    own = Row(results.main, "own fpr above twice the nominal")
    yield f"{percent(own)} of 100 are estimated to have a false positive rate of their own above twice the nominal"
    rate = f"{100 * results.fpr:g} %"
    yield f"The threshold is set so that {rate} of those"
    yield f"{rate}. Whoever is among them"
    yield f"This page's accusations are made at {rate}:"
    sizes = results.main[results.main["metric"] == "scores in bin"].groupby("side")["n"].max()
    if len(sizes):
        yield f"Scores of {sizes['members']:,} answers about"
        yield f"and of {sizes.drop('members').iloc[0]:,} about"
    yield f"it accuses: {rate} of the non-members, which sets the threshold, and {hundred} % of the members."
    for one in (0.001, 0.01, 0.1):
        if not np.isnan((tpr := Row(results.main, f"tpr@{one:g}")).low):
            yield f"Where {100 * one:g} % are accused wrongly, {tpr.shown(1, 100)} % are identified."
    yield from deployment(results)
    outside = (sizes.drop("members").iloc[0]) * results.fpr / 10
    if outside < 2:
        yield f"A false positive rate of {10 * results.fpr:g} % is left out: too few of the answers"


def deployment(results) -> Iterator[str]:
    """Precision in one more context, by false positive rate and base rate."""
    table = results.main[results.main["fpr"].notna()]
    for (fpr, rate), rows in table.groupby([table["fpr"].astype(float), table["base rate"].astype(float)]):
        one, level = Row(rows, "precision in one context"), Row(rows, "predictive level").estimate
        if np.isnan(one.estimate):
            continue
        yield (
            f"| {100 * fpr:g} % | {100 * rate:g} % | {percent(Row(rows, 'mean precision'))} | {percent(one)} | "
            f"{100 * level:.0f} % ({one.n} contexts)"
        )
        if (fpr, rate) == (results.fpr, max(base_rates(results))) and not np.isnan(one.low):
            yield (
                f"In one context {100 * one.low:.0f} to {100 * one.high:.0f} of 100 accusations are right, with "
                f"probability {level:.2f}, if {100 * rate:g} of 100 candidates are in the data."
            )


def strength(results) -> Iterator[str]:
    """Planted models, the smallest leak, more contexts and other sizes."""
    table = results.threats
    table = table[table["planted"].notna() & (table["checked"].isna() if "checked" in table else True)]
    lookup, found = Row(table[table["planted"] == "lookup"], "lookup auc"), table[table["planted"] == "innocent"]
    tried = Row(found, "found")
    if lookup.detected:
        yield f"A planted model that looks its records up is detected (AUC {lookup.estimate:.2f}), as it should be."
    else:
        yield f"is not detected (AUC {lookup.estimate:.2f})"
    detected = int(tried.estimate)
    assert (detected > 2) == (Row(found, "check failed").estimate == 1)
    were = "was" if detected == 1 else "were"
    yield f"Of {tried.n} planted models without a leak {detected} {were} detected. Up to five "
    smallest = table[table["planted"] == "smallest"]
    auc, tpr = Row(smallest, "smallest auc"), Row(smallest, f"smallest tpr@{results.fpr:g}")
    assert auc.n <= len(results.risk)
    units = f"{auc.n}" if results.persons or auc.n >= len(results.risk) else f"{auc.n} of {len(results.risk)}"
    strict = f"at a false positive rate of {100 * results.fpr:g} %"
    yield f"accusations {strict} are distinguishable from chance with a"
    who = f"With {results.config['attacks']['sets']} contexts and {units} {results.accused}"
    if not np.isnan(auc.estimate):
        yield f"{who} this audit detects a leak with an AUC of {auc.estimate:.3f} with a probability of at least"
    else:
        yield f"{who} no planted effect of any size"
    if not np.isnan(tpr.estimate):
        yield f"{who} accusations {strict} are distinguishable"
        by_chance = f"by chance they identify {100 * results.fpr:g}."
        yield f"if they identify {100 * tpr.estimate:.1f} of 100 members; {by_chance}"
    else:
        yield f"{who} the audit says nothing about {strict[3:]}"
    yield from by_contexts(results)
    yield from by_size(results)


def by_contexts(results) -> Iterator[str]:
    """AUC by the number of contexts, of the score that the headline chose most often."""
    table = results.threats
    chosen = results.main[(results.main["metric"] == "chosen") & (results.main["criterion"] == "auc")]
    assert table.loc[table["metric"] == "auc by contexts", "score"].iloc[0] == (
        chosen.sort_values("estimate", kind="stable")["score"].iloc[-1]
        if (chosen["estimate"] == chosen["estimate"].max()).sum() == 1
        else table.loc[table["metric"] == "auc by contexts", "score"].iloc[0]
    )
    rows = table[table["metric"] == "auc by contexts"]
    each = {int(number): Row(part, "auc by contexts") for number, part in rows.groupby("contexts", sort=False)}
    for number, row in each.items():
        yield f"| {number} | {row.shown(3)} |"
    yield f"{each[min(each)].shown()} with {min(each)}, {each[max(each)].shown()} with {max(each)}."
    limit = Row(table, "auc with many contexts")
    if np.isnan(limit.estimate):
        yield f"cannot be extrapolated: {limit.method}."
    else:
        here = f"with the {max(each)} contexts here it has {each[max(each)].estimate:.2f}."
        yield f"Extrapolated to many shadow contexts this score has an AUC of {limit.shown()}; {here}"
        yield f"The ring is extrapolated (many): {limit.shown()}."


def by_size(results) -> Iterator[str]:
    """AUC by records of a context: whether it is said to grow or fall follows from both intervals."""
    table = results.threats
    deployed = int(table.loc[table["metric"] == "deployed records", "estimate"].iloc[0])
    yield f"The context that will be deployed is taken to hold {deployed} rows"
    rows = table[table["metric"] == "auc by size"]
    each = {int(number): Row(part, "auc by size") for number, part in rows.groupby("context", sort=False)}
    if len(each) == 1:
        yield f"the headline holds for {'about ' * results.persons}{max(each)}."
        yield "Its leakage cannot be extrapolated: it was"
        yield "measured at fewer than 3 sizes of context (the first numbers measure one size)."
        yield "How the leak changes with the size of the context was not measured."
        return
    small, large = each[min(each)], each[max(each)]
    aucs = f"AUC {small.estimate:.3f} with {min(each)} records, {large.estimate:.3f} with {max(each)}, of"
    more = large.estimate > small.estimate
    ends = (large.estimate - large.low, small.high - small.estimate) if more else (
        large.high - large.estimate, small.estimate - small.low
    )  # fmt: skip
    if abs(large.estimate - small.estimate) > np.hypot(*ends):
        yield f"Larger contexts leaked {'more' if more else 'less'} about each record in this audit: {aucs}"
    else:
        yield f"Whether a larger context leaks more or less about each record is not shown: {aucs}"
    for number, row in each.items():
        yield f"| {number} | {row.shown(3)} |"
    limit = Row(table, "auc as deployed")
    if not np.isnan(limit.estimate):
        yield f"| {deployed}, extrapolated | {limit.shown(3)} |"
        yield f"the AUC there is {limit.shown()}, by one score"
        yield f"rows that will be deployed | {limit.shown(3)} | {fixed(limit.null, 3)} |"


def scores(results) -> Iterator[str]:
    """All scores of the same answers in the order of their AUC, adversaries and controls, agreement and posteriors."""
    records = "persons" if results.persons else "members"
    table = results.threats
    table = table[(table["model"] == "main") & (table["records"] == records) & table["attack"].notna()]
    table = table[~table["threat"].astype(str).str.startswith("white-box")]
    each = {attack: part for attack, part in table.groupby("attack", sort=False) if attack != "strongest"}
    rate = max(base_rates(results))
    for part in [results.main, *each.values()]:
        worth = Row(part[part["base rate"].astype(float) == rate], "precision")
        tpr = Row(part, f"tpr@{results.fpr:g}")
        yield f"| {Row(part, 'auc').shown()} | | {tpr.shown(3)} | {percent(worth)}"
    printed = next(at for at, text in enumerate(results.page) if text.startswith("| Strongest score |"))
    listed = results.page[printed + 1 : printed + 1 + len(each)]
    order = [float(text.split("|")[2].split()[0]) for text in listed]
    assert order == sorted(order, reverse=True)
    chosen = results.main[results.main["metric"] == "chosen"]
    for _, part in chosen.groupby("criterion"):
        assert abs(part["estimate"].sum() - 1) < 1e-9
        for share in part["estimate"]:
            yield f"({100 * share:.0f} %"
    for part, every in ((results.main, f" {results.accused}"), (results.of("members"), " rows")):
        row = Row(part, "auc")
        verdict = "detected" if row.detected else "not distinguishable from chance"
        yield f"| all{every * results.persons} | {row.shown()} chance {fixed(row.null)} | | {verdict} | 1"
    for name, called in (
        ("placebo", "negative control | in no context"),
        ("companions", "memberships exchanged | all"),
    ):
        control = table if name == records else results.threats
        control = control[(control["records"] == name) & (control["model"] == "main") & control["attack"].notna()]
        control = control[~control["threat"].astype(str).str.startswith("white-box")]
        row = Row(control, "auc")
        yield called
        verdict = "detected" if row.detected else "not distinguishable from chance"
        yield f"| {row.shown()} chance {fixed(row.null)} | | {verdict} | 1"
    errors = results.threats[results.threats["metric"] == "calibration error"].set_index("posterior")["estimate"]
    own = f"LiRA's own by {errors['lira']:.3f}."
    yield f"differ from the share of members by {errors['calibrated']:.3f} on average; {own}"
    yield f"at a base rate of {100 * rate:g} %. TPR:"
    yield f"| TPR at {100 * results.fpr:g} % |"
    yield from agreement(results)


def agreement(results) -> Iterator[str]:
    """How far two halves of the contexts agree, and what as many others would name."""
    for measure in ("rank correlation of the vulnerability scores", "share of as long a list that both halves name"):
        name = "spearman" if "rank" in measure else "overlap_listed"
        halves, again = (Row(results.threats, one) for one in (name, f"{name} extrapolated"))
        least = "" if np.isnan(again.low) else f", at least {fixed(again.low)}"
        yield (
            f"{measure} {halves.shown()} (chance {fixed(halves.null)}; expected of as many other contexts as here "
            f"{fixed(again.estimate)}{least})"
        )


def protection(results) -> Iterator[str]:
    """Numbers of the section for data-protection officers, each with chance and whether it is beyond chance."""
    main, unit = results.main, "person" if results.accused == "persons" else "record"
    rate, worth = max(base_rates(results).items())
    strict, first = Row(main, f"tpr@{results.fpr:g}"), results.risk.loc[results.risk["vulnerability"].idxmax()]
    yield found(f"AUC of the strongest score, by {unit}", Row(main, "auc"))
    yield found(f"Share of members accused at a false positive rate of {100 * results.fpr:g} %", strict)
    yield found(f"are right, if {100 * rate:g} of 100 candidates are members", worth)
    if results.persons:
        yield found("(AUC)", Row(results.of("members"), "auc"))
    low, middle, high = (fixed(first[key], 3) for key in ("low", "vulnerability", "high"))
    score = f"{middle} [{low}, {high}] | 0.000 |"
    yield f"Maximum: vulnerability score of row {first['row']}, in standard deviations | {score}"
    yield (
        f"Probability that this adversary gives the membership of row {first['row']}, from {100 * rate:g} % before | "
        f"{fixed(first[f'posterior_{rate:g}'], 3)} | {fixed(rate, 3)} |"
    )
    planted = results.threats[results.threats["planted"].notna()]
    planted = planted[planted["checked"].isna()] if "checked" in planted else planted
    tried = Row(planted[planted["planted"] == "innocent"], "found")
    yield found("looks its records up", Row(planted[planted["planted"] == "lookup"], "lookup auc"))
    share = fixed(tried.estimate / tried.n, 3)
    yield f"Share of {tried.n} planted models without a leak that were detected | {share} |"
    control = results.of("placebo", results.threats.loc[results.threats["records"] == "placebo", "attack"].iloc[0])
    yield found("AUC on the negative control, records in no context", Row(control, "auc"))
    yield from isolated(results, rate)


def found(measure, row):
    """A line of the tables of evidence."""
    return f"{measure} | {row.shown(3)} | {fixed(row.null, 3)} | {'yes' if row.detected else 'not shown'} |"


def isolated(results, rate) -> Iterator[str]:
    """The share of members at the least strict threshold whose precision is .9 by the lower end of the ROC's band."""
    rows = results.main[results.main["metric"] == "roc tpr"]
    fprs = rows["roc fpr"].astype(float)
    passing = rows[rate * rows["low"] >= 0.9 * (rate * rows["low"] + (1 - rate) * fprs) - 1e-12]
    passing = passing[passing["low"] > 0]
    measure = f"if {100 * rate:g} of 100 candidates are members"
    if passing.empty:
        yield f"{measure} | 0.000 | - | no test | at no threshold is this precision shown"
        return
    one = passing.loc[fprs[passing.index].idxmax()]
    shown = "{} [{}, {}]".format(*(fixed(one[key], 3) for key in ("estimate", "low", "high")))
    yield f"{measure} | {shown} | - | no test | at a false positive rate of {100 * float(one['roc fpr']):.2g} %, chosen"


def advice(results) -> Iterator[str]:
    """Whether to act on the list, where a leak is detected, from how far halves of the contexts agree on it."""
    if not Row(results.main, "auc").detected:
        return
    table = results.threats
    halves, again = Row(table, "overlap_listed"), Row(table, "overlap_listed extrapolated")
    beyond = float(table.loc[table["metric"] == "overlap_listed p-value", "estimate"].iloc[0]) <= 0.05
    if beyond and halves.low > halves.null and again.estimate >= 0.5 and not np.isnan(again.low):
        named, least = (f"{100 * share:.0f} %" for share in (again.estimate, again.low))
        yield f"are expected to name {named} again, and at least {least}, so you can act"
    else:
        yield "Do not act on single records of the list: other shadow contexts would name others."


PARTS = (counted, first_screen, accusations, strength, scores, protection, advice)


def faults(folder):
    """Sentences that the page lacks, and what its sentences with a number hold that no result explains."""
    results = Results(folder)
    text = " ".join(results.page)
    expected = [sentence for part in PARTS for sentence in part(results)]
    missing = [f"missing: {sentence}" for sentence in expected if sentence not in text]
    for sentence in sorted(expected, key=len, reverse=True):
        text = text.replace(sentence, " … ")
    pieces = FIXED.sub(" … ", text).split("…")
    return missing + [f"unexplained: {piece.strip()[-300:]}" for piece in pieces if re.search(r"\d", piece)]
