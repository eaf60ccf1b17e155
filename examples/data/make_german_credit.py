"""Make german-credit.csv: one readable column per attribute from the source's one-hot columns.

The source is the binarised German Credit table of the pystreed repository (see README.md)::

    python make_german_credit.py german-credit-binarized.csv german-credit-binarized-names.txt

Codes become the words of the code table that UCI publishes with the data. Every group of 0/1 columns must have
exactly one 1 in each row, the rows keep their order, and at the end the table is encoded again and must give the same
set of yes/no questions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

# Source attribute -> our column, and the words of UCI's code table (german.doc) for its codes.
CODED: dict[str, tuple[str, dict[str, str]]] = {
    "Account Balance": (
        "checking_account",
        {"1": "below 0 DM", "2": "0 to 200 DM", "3": "200 DM or more", "4": "no account"},
    ),
    "Payment Status of Previous Credit": (
        "credit_history",
        {
            "0": "no credits or all paid back",
            "1": "all credits here paid back",
            "2": "credits paid back so far",
            "3": "delays in the past",
            "4": "critical or credits elsewhere",
        },
    ),
    "Purpose": (
        "purpose",
        {
            "0": "new car",
            "1": "used car",
            "2": "furniture",
            "3": "radio or television",
            "4": "appliances",
            "5": "repairs",
            "6": "education",
            "8": "retraining",
            "9": "business",
            "10": "other",
        },
    ),
    "Value Savings/Stocks": (
        "savings",
        {
            "1": "below 100 DM",
            "2": "100 to 500 DM",
            "3": "500 to 1000 DM",
            "4": "1000 DM or more",
            "5": "unknown or none",
        },
    ),
    "Length of current employment": (
        "employed_for",
        {
            "1": "unemployed",
            "2": "below 1 year",
            "3": "1 to 4 years",
            "4": "4 to 7 years",
            "5": "7 years or more",
        },
    ),
    "Instalment per cent": ("instalment_rate", {code: f"rate {code}" for code in "1234"}),
    "Guarantors": ("guarantors", {"1": "none", "2": "co-applicant", "3": "guarantor"}),
    "Duration in Current address": ("residence_since", {code: f"level {code}" for code in "1234"}),
    "Most valuable available asset": (
        "property",
        {
            "1": "real estate",
            "2": "savings agreement or life insurance",
            "3": "car or other",
            "4": "unknown or none",
        },
    ),
    "Concurrent Credits": ("other_instalments", {"1": "bank", "2": "stores", "3": "none"}),
    "Type of apartment": ("housing", {"1": "rent", "2": "own", "3": "for free"}),
    "No of Credits at this Bank": ("credits_here", {"1": "one", "2": "two", "3": "three", "4": "four"}),
    "Occupation": (
        "occupation",
        {
            "1": "unskilled non-resident",
            "2": "unskilled resident",
            "3": "skilled",
            "4": "manager or highly qualified",
        },
    ),
}
# Ordered bins; their text is the source's.
BINNED = {
    "Duration of Credit (month)": ("duration_months", ["<7", "7-13", ">=13"]),
    "Credit Amount": ("credit_amount", ["<2000", "2000-5000", ">=5000"]),
}
# A single 0/1 column: the level for 1, the level for 0.
SINGLE = {
    "Gender=Male": ("sex", "male", "female"),
    "Married": ("married", "yes", "no"),
    "Age (years)<26": ("age_years", "<26", ">=26"),
    "No of dependents=1": ("dependents", "one", "two"),
    "Telephone=1": ("telephone", "none", "yes"),
    "Foreign Worker=1": ("foreign_worker", "yes", "no"),
}
TARGET = "creditworthy"


def read_source(table: Path, names: Path) -> pd.DataFrame:
    """Read the 0/1 table (label first, blanks between) under the names of its columns."""
    lines = [line for line in names.read_text().splitlines() if line.startswith("f")]
    labels = [line.split("\t", 1)[1].strip() for line in lines]
    return pd.read_csv(table, sep=" ", header=None, names=[TARGET, *labels])


def attribute_of(name: str) -> tuple[str, str]:
    """Split ``Purpose=3`` or ``Credit Amount<2000`` into the attribute and its level."""
    for attribute in [*CODED, *BINNED]:
        if name.startswith(attribute) and name != attribute:
            return attribute, name[len(attribute) :].removeprefix("=")
    raise ValueError(f"unknown column {name!r}")


def regroup(source: pd.DataFrame) -> pd.DataFrame:
    """One text column per attribute, in the source's order."""
    columns: dict[str, pd.Series] = {}
    groups: dict[str, dict[str, str]] = {}
    for name in source.columns.drop(TARGET):
        if name in SINGLE:
            column, one, zero = SINGLE[name]
            columns[column] = source[name].map({1: one, 0: zero})
            continue
        attribute, level = attribute_of(name)
        column, words = CODED.get(attribute) or (BINNED[attribute][0], {})
        text = words[level] if attribute in CODED else level
        groups.setdefault(column, {})[name] = text
        columns.setdefault(column, pd.Series(dtype=str))
    for column, levels in groups.items():
        block = source[list(levels)]
        if not (block.sum(axis=1) == 1).all():
            raise ValueError(f"the columns of {column} do not have exactly one 1 in each row")
        columns[column] = block.idxmax(axis=1).map(levels)
    table = pd.DataFrame(columns)
    table[TARGET] = source[TARGET].map({1: "yes", 0: "no"})
    for column, bins in BINNED.values():
        assert set(table[column]) == set(bins)
    assert not table.isna().any(axis=None)
    return table


def questions(frame: pd.DataFrame) -> set[bytes]:
    """The distinct yes/no questions of 0/1 columns; a question and its negation count once."""
    found = set()
    for name in frame.columns:
        values = frame[name].to_numpy().astype(bool)
        found.add((values ^ values[0]).tobytes())
    return found


def main(table: Path, names: Path, out: Path) -> None:
    source = read_source(table, names)
    result = regroup(source)
    encoded = pd.get_dummies(result.drop(columns=TARGET))
    if questions(encoded) != questions(source.drop(columns=TARGET)):
        raise ValueError("the regrouped table does not carry the same questions as the source")
    result.to_csv(out, index=False, lineterminator="\n")
    asked = len(questions(encoded))
    print(f"{out.name}: {len(result)} rows, {result.shape[1] - 1} features, {asked} questions")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(__file__).with_name("german-credit.csv"))
