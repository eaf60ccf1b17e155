"""What a run covered, as tables of counts; cells without an attack are named, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations_with_replacement
from typing import Any

from treeform.testing.attack import draw, families, large, slices
from treeform.testing.attack.case import DEALINGS, ENGINES, LIMITS, SIMD, VERBS
from treeform.testing.attack.hands import HANDS
from treeform.testing.attack.rules import KINDS

Record = dict[str, Any]
Why = Callable[[str, str], str | None]
TERMS = (
    "error", "cost", "nodes", "leaves", "depth", "balanced_error", "f1_loss", "matthews_loss", "group_error",
    "max_group_error", "abstain_cost", "soft", "squared_error", "absolute_error",
)  # fmt: skip
RULES = (*KINDS, "mean_parity")
FAMILIES = ("size_table", "pareto", "frontier")
OF_VALUES = {"squared_error", "absolute_error"}
NO_LIMIT = ("judge", "report", "sweep", "own rows")
ANSWERED = ("refused", "not asked", "nothing to", "no model", "raised", "not listed", "interrupted outside")


def tables(found: Iterable[Record]) -> str:
    """All tables as text."""
    every = list(found)
    done = [r for r in every if "aim" in r]
    out = [_head(every)]
    out.append(
        _table(
            "requirement x objective: attacks, and of them answered",
            RULES, TERMS, _pairs(done, lambda r: [(a, b) for a in r["rules"] for b in r["aim"]]), _why_objective,
        )
    )  # fmt: skip
    on_some = [r for r in done if "slices" in r]
    out.append(
        _table(
            "requirement x some of the rows", sorted(slices.SUMS | slices.OTHERS), slices.WAYS,
            _pairs(on_some, lambda r: [tuple(one.split(": ")) for one in r["slices"]]), _none,
        )
    )  # fmt: skip
    out.append(
        _table(
            "verb x some of the rows", VERBS, slices.WAYS,
            _pairs(on_some, lambda r: [(r["verb"], one.split(": ")[1]) for one in r["slices"]]), _why_slice,
        )
    )  # fmt: skip
    two = Counter(
        tuple(sorted(pair))
        for r in done
        for pair in {(a, b) for a in r["rules"] for b in r["rules"] if a < b}
    )
    pairs = [(a, b) for a, b in combinations_with_replacement(sorted(RULES), 2) if a != b]
    out.append(_list_of_pairs("requirement x requirement", two, pairs))
    out.append(
        _table(
            "engine or solver x data", sorted({r["who"] for r in done} | {e for e, _ in ENGINES}), draw.DATA_KINDS,
            _pairs(done, lambda r: [(r["who"], r["data"])]), _none,
        )
    )  # fmt: skip
    out.append(
        _table(
            "verb x limit: what ended the search", VERBS, LIMITS,
            _pairs(done, lambda r: [(r["verb"], r["limit"])]), _why_limit,
        )
    )  # fmt: skip
    out.append(
        _table("verb x weights", VERBS, draw.WEIGHT_KINDS,
            _pairs(done, lambda r: [(r["verb"], r["weights"])]), _why_weights,
        )
    )  # fmt: skip
    out.append(
        _table("verb x hand", VERBS, HANDS, _pairs(done, lambda r: [(r["verb"], r["hand"])]), _why_hand)
    )
    deep = [r for r in every if r["verb"] == "deep"]
    out.append(
        _table(
            "vector path x depth (deeper trees)",
            sorted({f"{e} {p}" for e in SIMD for p in SIMD[e]}), ("1", "2", "3", "4"),
            _pairs(
                [*deep, *({**r, "depth": _depth(r["shape"])} for r in done if r["simd"])],
                lambda r: [(f"{r['who']} {r['simd']}", str(r["depth"]))],
            ), _why_depth,
        )
    )  # fmt: skip
    wide = [r for r in every if "large" in r]
    out.append(
        _table(
            "large tables: verb x rule", large.VERBS, large.RULES,
            _pairs(wide, lambda r: [(r["large"]["verb"], r["large"]["rule"])]), _none,
        )
    )  # fmt: skip
    dealt = Counter(f"{r['dealing']}: {r['status'].rpartition(': ')[2]}" for r in done if "dealing" in r)
    out.append("certificates\n" + "\n".join(f"  {k:40} {v:8,}" for k, v in sorted(dealt.items())))
    missing = [d for d in DEALINGS if not any(k.startswith(d + ":") for k in dealt)]
    out.append(f"  dealings without an attack: {', '.join(missing) or 'none'}")
    family = Counter(f"{r['verb']} {r['family']}" for r in done if "family" in r)
    out.append("certificates of families\n" + "\n".join(f"  {k:40} {v:8,}" for k, v in sorted(family.items())))
    cells = {name.partition(":")[0] for name in family}
    missing = [f"{verb} {d}" for verb in FAMILIES for d in families.DEALINGS if f"{verb} {d}" not in cells]
    out.append(f"  without an attack: {', '.join(missing) or 'none'}")
    phases: dict[str, Counter[str]] = {}
    for r in done:
        if r["phase"]:
            phases.setdefault(r["verb"], Counter())[r["phase"]] += 1
    lines = [
        f"  {verb:12} {len(seen):4} phases; " + ", ".join(f"{p} {n}" for p, n in seen.most_common(8))
        for verb, seen in sorted(phases.items())
    ]
    out.append("verb x phase that was the last one (by the clock)\n" + "\n".join(lines))
    return "\n\n".join(out)


def _head(every: Sequence[Record]) -> str:
    status = Counter(r["status"].partition(":")[0] for r in every)
    wrong = [r for r in every if "wrong" in r]
    lines = [
        f"{len(every):,} attacks, {len(wrong)} of them wrong, "
        f"{sum(r['ms'] for r in every) / 1000:,.0f} s of processor time",
        "  " + ", ".join(f"{k} {v:,}" for k, v in status.most_common()),
    ]
    kinds = Counter((r["verb"], r["wrong"][0][:90]) for r in wrong)
    lines += [f"  wrong: {verb}: {text} ({n})" for (verb, text), n in kinds.most_common(40)]
    return "\n".join(lines)


def _pairs(
    found: Iterable[Record], of: Callable[[Record], Iterable[tuple[str, str]]]
) -> Counter[tuple[str, str, bool]]:
    """How often each cell was attacked, and how often it was answered."""
    out: Counter[tuple[str, str, bool]] = Counter()
    for r in found:
        answered = not r["status"].startswith(ANSWERED)
        for a, b in set(of(r)):
            out[a, b, False] += 1
            out[a, b, True] += answered
    return out


def _table(
    title: str, rows: Iterable[str], columns: Sequence[str], counts: Counter[tuple[str, str, bool]], why: Why
) -> str:
    rows, wide = list(rows), max(11, *(len(c) + 1 for c in columns))
    lines = [title, " " * 26 + "".join(c.rjust(wide) for c in columns)]
    empty: dict[str, list[str]] = {}
    for row in rows:
        cells = []
        for column in columns:
            n, answered = counts[row, column, False], counts[row, column, True]
            cells.append((f"{n}/{answered}" if n else "-").rjust(wide))
            if not answered:
                reason = why(row, column) or ("always refused" if n else "NOT DRAWN IN THIS RUN")
                empty.setdefault(reason, []).append(f"{row} x {column}")
        lines.append(row.ljust(26) + "".join(cells))
    lines += [
        f"  without an answer, {reason}: {len(cells)}: {', '.join(cells[:200])}"
        for reason, cells in empty.items()
    ]
    return "\n".join(lines)


def _list_of_pairs(title: str, counts: Counter[Any], cells: Sequence[tuple[str, str]]) -> str:
    known = [c for c in cells if _why_pair(*c) is None]
    empty = [f"{a} x {b}" for a, b in known if not counts[a, b]]
    drawn = sorted(counts[c] for c in known)
    return (
        f"{title}: {len(known)} pairs of {len(cells)} can be stated (the others are of classes and of values), "
        f"{len(known) - len(empty)} attacked, the median {drawn[len(drawn) // 2]} times\n"
        f"  NOT DRAWN IN THIS RUN: {len(empty)}: {', '.join(empty)}"
    )


def _depth(shape: str) -> int:
    kind, _, rest = shape.partition(":")
    return int(rest) if kind == "tree" else rest.count(",") + 1


def _none(row: str, column: str) -> str | None:
    return None


def _why_objective(rule: str, term: str) -> str | None:
    if (rule == "min_coverage" and term in OF_VALUES) or (term in OF_VALUES and rule not in draw.OF_VALUES):
        return "a requirement of classes, and an objective of values"
    if rule == "mean_parity" and term not in (*OF_VALUES, "nodes"):
        return "a requirement of values, and an objective of classes"
    if rule == "max_leaves" and term == "soft":
        return None
    return None


def _why_pair(a: str, b: str) -> str | None:
    pair = {a, b}
    if "mean_parity" in pair and not (pair - {"mean_parity"}) <= set(draw.OF_VALUES):
        return "one is of values, the other of classes"
    return None


def _why_slice(verb: str, way: str) -> str | None:
    return "a file has no array beside it" if verb == "report" and way == "mask" else None


def _why_limit(verb: str, limit: str) -> str | None:
    return "it has no limit, or a usual one" if verb in NO_LIMIT and limit != "none" else None


def _why_weights(verb: str, weights: str) -> str | None:
    return (
        "the command line has no column of weights here" if verb == "report" and weights != "none" else None
    )


def _why_hand(verb: str, hand: str) -> str | None:
    if verb in ("report", "own rows") and hand != "lists":
        return "a file, or about rows of formulations only"
    if hand == "other labels":
        return "refused, as it has to be"
    if verb == "estimator" and hand == "named":
        return "estimators take X and y"
    return None


def _why_depth(row: str, depth: str) -> str | None:
    engine = row.partition(" ")[0]
    if engine in ("diagram-search", "regression-search") and int(depth) > 2:
        return "the list of all models ends at depth two"
    return None
