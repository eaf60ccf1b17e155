"""The report as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treeform.report.crossing import Crossing
from treeform.report.facts import Facts
from treeform.report.residuals import ResidualTable
from treeform.utils.text import Caution

SHORT_NOTES = 5


def render_text(facts: Facts, verbose: bool = True, warned: bool = False) -> str:
    """Warnings unless they were shown, outcome, requirements with measured rates; if verbose, matrix and claims."""
    first = [] if warned else [f"warning: {one}" for one in warnings_of(facts.notes, facts.crossings)]
    parts = [*(["\n".join(first)] if first else []), facts.verdict, _pairs(facts.outcome)]
    if facts.model_size:
        parts[-1] += "\n" + _pairs([("model", facts.model_size)], width=_width(facts.outcome))
    if facts.requirements:
        parts.append("requirements\n" + "\n".join(_requirement_lines(facts)))
    if facts.prices:
        parts.append("what each requirement costs\n" + "\n".join(_price_lines(facts)))
    for curve in facts.curves:
        parts.append(f"{curve.requirement}\n  {curve.sentence}")
    if facts.alternatives is not None:
        sentences = "\n".join(f"  {sentence}" for sentence in facts.alternatives.sentences)
        parts.append(f"models that are almost as good\n{sentences}")
    if facts.confusion and verbose:
        parts.append("confusion (rows: true class, columns: predicted)\n" + _matrix(facts))
    if verbose:
        parts += [_residuals(one) for one in facts.residuals]
    if facts.claims and verbose:
        parts.append("claims\n" + "\n".join(_claim_lines(facts)))
    others = [note for note in facts.notes if not isinstance(note, Caution)]
    if others:
        shown = others if verbose else others[:SHORT_NOTES]
        more = len(others) - len(shown)
        lines = [f"  {note}" for note in shown] + ([f"  … and {more} more (--verbose)"] if more else [])
        parts.append("notes\n" + "\n".join(lines))
    return "\n\n".join(parts)


def warnings_of(notes: Iterable[str], crossed: Iterable[Crossing]) -> list[str]:
    """What comes before everything else: probable mistakes, and what the requirements let through."""
    cautions = [str(note) for note in notes if isinstance(note, Caution)]
    return [*cautions, *(f"{one.sentence} {one.cost}".rstrip() for one in crossed)]


def _width(pairs: tuple[tuple[str, str], ...]) -> int:
    return max((len(key) for key, _ in pairs), default=0)


def _pairs(pairs: tuple[tuple[str, str], ...] | list[tuple[str, str]], width: int = 0) -> str:
    width = width or _width(tuple(pairs))
    return "\n".join(f"  {key.ljust(width)}  {value}" for key, value in pairs)


def _requirement_lines(facts: Facts) -> list[str]:
    lines = []
    for fact in facts.requirements:
        lines.append(f"  {fact.label}: {fact.verdict.replace('violated', 'VIOLATED')}")
        if fact.words != fact.label:
            lines.append(f"    {fact.words}")
        if fact.measured and fact.violation is not None:
            lines.append(f"    {fact.measured}")
    return lines


def _price_lines(facts: Facts) -> list[str]:
    width = max(len(name) for name, _, _ in facts.prices)
    return [f"  {name.ljust(width)}  {without} without it: {price}" for name, without, price in facts.prices]


def _residuals(table: ResidualTable) -> str:
    title = f"residuals by {table.parts}, {table.rows_of} rows"
    return f"{title}\n" + (f"  {table.note}" if table.note else _aligned([("", *table.head), *table.rows]))


def _matrix(facts: Facts) -> str:
    cells = [["", *facts.classes]]
    cells += [[label, *map(str, row)] for label, row in zip(facts.classes, facts.confusion, strict=True)]
    return _aligned(cells)


def _aligned(cells: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return "\n".join("  " + "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells)


def _claim_lines(facts: Facts) -> list[str]:
    lines = []
    for claim in facts.claims:
        without = f" (even without {', '.join(claim.relaxation)})" if claim.relaxation else ""
        what = f"{claim.what} {claim.value}".rstrip()
        lines.append(f"  {what}{without}: {claim.by}, {claim.seconds:.2f} s; checked again {claim.rechecked}")
        if claim.counters:
            lines.append(
                "    " + ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in claim.counters)
            )
    return lines
