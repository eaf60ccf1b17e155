"""What a run found: figures, refusals by text, and disagreements by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from treeform.testing.differential.run import Record


def kind_of(text: str) -> str:
    """A text without its numbers and names, so that equal findings fall together."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "'...'", text.split("\n")[0])
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?(/\d+)?", "#", plain)[:140]


def who(record: Record) -> str:
    """Solver and formulation of a record, without settings."""
    parts = [part.split(":")[0] for part in record["way"].split(", ")]
    known = {"odd", "odd-paper", "sat-depth", "sat-size"}
    verb = parts[0] if parts[0] in ("sizes", "pareto") else "solve"
    rest = parts[1:] if verb != "solve" else parts
    formulation = next((p for p in rest if p in known), None)
    return " ".join(filter(None, (None if verb == "solve" else verb, rest[0], formulation)))


def summary(records: Iterable[Record]) -> str:
    """A report as text."""
    rows = list(records)
    if not rows:
        return "no cases"
    wrong = [r for r in rows if "wrong" in r]
    cpu = sum(r["cpu"] for r in rows) / 1000
    lines = [
        f"{len(rows):,} cases, {len(wrong)} disagree; {sum(r['ms'] for r in rows) / 1000:,.0f} s of answers, "
        f"{cpu:,.0f} s of CPU ({1000 * cpu / len(rows):.1f} ms a case)",
        "",
        "answers: " + _counted(r["status"] for r in rows),
        "certificates: " + _counted(r["checked"] for r in rows if "checked" in r),
        "",
        f"{'way':<28} {'cases':>7} {'ms each':>8} {'refused':>8} {'disagree':>8}",
    ]
    by: dict[str, list[Record]] = {}
    for r in rows:
        by.setdefault(who(r), []).append(r)
    for name, some in sorted(by.items(), key=lambda item: -len(item[1])):
        each = sum(r["ms"] for r in some) / len(some)
        refused = sum(r["status"] == "refused" for r in some)
        lines.append(
            f"{name:<28} {len(some):>7,} {each:>8.1f} {refused:>8} {sum('wrong' in r for r in some):>8}"
        )
    for title, key in (("shapes", "shape"), ("requirements", "requirements")):
        lines += ["", f"{title}: " + _counted(r[key] or "none" for r in rows)]
    lines += ["", "refusals by text:"]
    refusals = Counter(kind_of(r["refusal"]) for r in rows if "refusal" in r)
    lines += [f"{count:>7,}  {text}" for text, count in refusals.most_common()]
    if wrong:
        lines += ["", "disagreements by kind:"]
        kinds: dict[tuple[str, str], list[int]] = {}
        for r in wrong:
            kinds.setdefault((who(r), kind_of(r["wrong"][0])), []).append(r["case"])
        for (name, what), cases in sorted(kinds.items(), key=lambda item: -len(item[1])):
            examples = ", ".join(map(str, sorted(cases)[:5]))
            lines.append(f"{len(cases):>7,}  {name}: {what}  (cases {examples})")
    return "\n".join(lines)


def _counted(values: Iterable[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in Counter(values).most_common()) or "none"
