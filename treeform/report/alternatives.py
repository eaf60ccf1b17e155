"""What near-optimal models have in common and where they differ, as a report shows it."""

from __future__ import annotations

from dataclasses import dataclass

from treeform.tradeoff.near_optimal import NearOptimal
from treeform.utils.text import value_text

MOST_NAMES = 6


@dataclass(frozen=True)
class Alternatives:
    """Near-optimal models beside the model of a report."""

    svg: str
    """The range of each column's importance."""
    sentences: tuple[str, ...]


def alternatives(found: NearOptimal | None) -> Alternatives | None:
    """What there is to show; None where no models were counted."""
    if found is None or found.trees is None or not found.trees.size or found.counted_to is None:
        return None
    columns, spread = found.columns(), found.multiplicity()
    some = columns["models"] > 0
    needed = columns["column"][columns["models"] == found.count].tolist()
    unused = columns["column"][~some].tolist()
    beyond = "" if found.counted else f" Those beyond, up to {value_text(found.threshold)}, are not counted."
    asked = "that satisfy the requirements, " if found.question.requirements else ""
    sentences = [
        f"Models {asked}with an objective of at most {value_text(found.counted_to)}: {found.count:,}; "
        f"the best has {value_text(found.best.objective)}.{beyond}",
        f"{f'All of them test {_names(needed)}' if needed else 'No column is tested by all of them'}; "
        f"{f'none tests {_names(unused)}' if unused else 'each column is tested by some'}.",
        f"On {float(spread.ambiguity):.1%} of the training weight some of them predict another class than the best "
        f"model; a single one does so on {float(spread.discrepancy):.1%} at most.",
    ]
    return Alternatives(found.plot().svg, tuple(sentences))


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
