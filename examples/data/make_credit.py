"""Make credit.csv: the Statlog German Credit data with their numbers, and words in place of codes.

The source is the table of the repository vidalt/Decision-Diagrams (see README.md), where columns of codes are one-hot
without their first level::

    python make_credit.py statlog-german-credit.csv

The number of rows of each code is checked against what UCI's file has.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from make_german_credit import CODED

NUMBERS = {
    "1": "duration_months",
    "4": "credit_amount",
    "7": "instalment_rate",
    "10": "residence_since",
    "12": "age_years",
    "15": "credits_here",
    "17": "dependents",
}
# Attribute: our column, and for each level of the source, the dropped one first, its word and its rows in UCI's file.
WORDS = dict(CODED.values())
CODES: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "0": ("checking_account", list(zip("1234", (274, 269, 63, 394), strict=True))),
    "2": ("credit_history", list(zip("01234", (40, 49, 530, 88, 293), strict=True))),
    "3": (
        "purpose",
        list(
            zip(
                ["0", "9", "1", "10", "2", "3", "4", "5", "6", "8"],
                (234, 97, 103, 12, 181, 280, 12, 22, 50, 9),
                strict=True,
            )
        ),
    ),
    "5": ("savings", list(zip("12345", (603, 103, 63, 48, 183), strict=True))),
    "6": ("employed_for", list(zip("12345", (62, 172, 339, 174, 253), strict=True))),
    "9": ("guarantors", list(zip("123", (907, 41, 52), strict=True))),
    "11": ("property", list(zip("1234", (282, 232, 332, 154), strict=True))),
    "13": ("other_instalments", list(zip("123", (139, 47, 814), strict=True))),
    "14": ("housing", list(zip("123", (179, 713, 108), strict=True))),
    "16": ("occupation", list(zip("1234", (22, 200, 630, 148), strict=True))),
}
# Not in the tables of words: personal status and sex, of which the sex is kept, telephone and foreign worker.
PLAIN: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "8": ("sex", [("male", 50), ("female", 310), ("male", 548), ("male", 92)]),
    "18": ("telephone", [("none", 596), ("yes", 404)]),
    "19": ("foreign_worker", [("yes", 963), ("no", 37)]),
}


def decoded(source: pd.DataFrame, attribute: str, levels: list[tuple[str, int]]) -> pd.Series:
    """The word of each row; the first level is the one without a column."""
    names = [name for name in source if name.split("_")[0] == attribute]
    one_hot = source[names]
    level = one_hot.to_numpy().argmax(axis=1) + 1
    level[one_hot.sum(axis=1) == 0] = 0
    for at, (word, rows) in enumerate(levels):
        if (level == at).sum() != rows:
            sys.exit(
                f"attribute {attribute}: {(level == at).sum()} rows are {word}, and UCI's file has {rows}"
            )
    return pd.Series([levels[at][0] for at in level])


def main() -> None:
    """Write credit.csv beside this script."""
    source = pd.read_csv(sys.argv[1])
    columns: dict[str, pd.Series] = {}
    for attribute, (name, levels) in CODES.items():
        columns[name] = decoded(source, attribute, levels).map(WORDS[name])
    columns |= {name: decoded(source, attribute, levels) for attribute, (name, levels) in PLAIN.items()}
    columns |= {name: source[attribute].astype(int) for attribute, name in NUMBERS.items()}
    columns["age_group"] = (columns["age_years"] < 26).map({True: "under 26", False: "26 or older"})
    columns["creditworthy"] = source["target"].map({0: "yes", 1: "no"})
    first = ["sex", "age_group", "age_years", "duration_months", "credit_amount"]
    order = [*first, *(name for name in columns if name not in first)]
    pd.DataFrame(columns)[order].to_csv(Path(__file__).parent / "credit.csv", index=False)


if __name__ == "__main__":
    main()
