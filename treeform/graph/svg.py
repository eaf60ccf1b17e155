"""Graphs as standalone SVG, laid out here; no Graphviz, no fonts to load, no styles that leak into a page."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from treeform.errors import SpecError
from treeform.graph.graph import FlatGraph
from treeform.graph.layout import Layout, place_layers, place_tree
from treeform.graph.rewrite import ordered
from treeform.graph.rules import amount_text, branches, class_text, counts_known, question_text, support_text
from treeform.utils.files import write_bytes, write_text
from treeform.utils.text import count_of, rounded_text

escape = partial(html.escape, quote=False)
# Okabe and Ito's palette for colour-blind readers, in an order whose first entries differ in print as well.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#666666")
FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
TEXT, SMALL = 13.0, 11.0
MARGIN, PADDING, ROW_GAP = 16.0, 10.0, 58.0
_LINE, _BAR, _WRAP, _LABEL = 17.0, 6.0, 30, 16.0
_OPERATOR = re.compile(r" (?=(?:=|<=|is) )")
_NARROW, _WIDE = set("iljItf.,:;'|!()[] "), set("mwMW@%")


@dataclass(frozen=True, repr=False)
class Drawing:
    """An SVG drawing that notebooks display."""

    svg: str
    """The whole file."""

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing: SVG of {len(self.svg)} characters; drawing.save('drawing.svg') writes it>"

    def save(self, path: str | Path) -> None:
        """Write the drawing as its name ends: ``.svg``, or with the package CairoSVG ``.png`` or ``.pdf``.

        Raises SpecError if the name ends otherwise, CairoSVG is needed and not here, or the file cannot be written.
        """
        form = self.check(path)
        if form == "svg":
            write_text(path, self.svg)
            return
        import cairosvg

        convert = {"png": cairosvg.svg2png, "pdf": cairosvg.svg2pdf}[form]
        scale = {"scale": 2.0} if form == "png" else {}
        write_bytes(path, bytes(convert(bytestring=self.svg.encode("utf-8"), **scale)))

    @staticmethod
    def check(path: str | Path) -> str:
        """The format of a drawing by what the name ends in. Raises SpecError as `save`, before there is a drawing."""
        form, instead = Path(path).suffix.lower()[1:], Path(path).with_suffix(".svg")
        cause, fix = "the format is what the name ends in: .svg, .png or .pdf", f"save it as {instead}"
        if form in ("png", "pdf"):
            try:
                import cairosvg  # noqa: F401
            except (ImportError, OSError) as error:  # the package, or the library cairo that it loads
                cause = f"{form.upper()} files are made by CairoSVG, which cannot be loaded here: {error}"
                fix = f"pip install cairosvg, or save it as {instead}"
            else:
                return form
        if form != "svg":
            raise SpecError(f"the drawing cannot be written to {path}", cause=cause, fix=fix)
        return form


@dataclass(frozen=True)
class _Box:
    """What one node shows."""

    lines: tuple[str, ...]
    detail: str
    tooltip: str
    width: float
    height: float


def to_svg(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_svg`."""
    return Picture(graph).text()


def leaf_colour(graph: FlatGraph, node: int) -> str:
    """By the class of a leaf; values share one colour."""
    return PALETTE[0 if graph.values else int(graph.label[node]) % len(PALETTE)]


class Picture:
    """Where everything of a drawing is."""

    def __init__(self, graph: FlatGraph) -> None:
        self.graph = ordered(graph)
        self.known = counts_known(self.graph)
        self.boxes = [self._box(node) for node in range(len(self.graph.feature))]
        self.arcs = [self._arcs(node) for node in range(len(self.graph.feature))]
        self.children = [tuple(child for _, child in arcs) for arcs in self.arcs]
        place = place_tree if self.graph.is_tree else place_layers
        self.layout: Layout = place(self.children, [box.width for box in self.boxes])
        self.ports = self._ports()
        self.entries = self._entries()
        self._set_frame()

    def _arcs(self, node: int) -> tuple[tuple[str, int], ...]:
        return () if self.graph.feature[node] < 0 else branches(self.graph, node)

    def _box(self, node: int) -> _Box:
        graph = self.graph
        leaf = graph.feature[node] < 0
        words = class_text(graph, node) if leaf else question_text(graph, node).removesuffix("?")
        lines = _lines(_clean(words))
        detail = tooltip = ""
        if self.known:
            total = graph.counts[node].sum()
            share = float(total) / float(graph.counts[0].sum())
            detail = f"{amount_text(total)} ({_percent(share)})"
            if graph.values:
                mean, deviation = graph.moments[node]
                detail += f", ± {rounded_text(deviation, 4)}" if leaf else f", mean {rounded_text(mean)}"
                tooltip = f"\n{support_text(graph, node)}"
            elif leaf:
                wrong = total - graph.counts[node, graph.label[node]]
                detail += f", {count_of(amount_text(wrong), 'error')}"
            if not graph.values:
                tooltip = f"\n{support_text(graph, node)}\n" + "\n".join(
                    f"{label}: {amount_text(count)}"
                    for label, count in zip(graph.classes, graph.counts[node], strict=True)
                )
        width = max([text_width(line, TEXT) for line in lines] + [text_width(detail, SMALL), 44.0])
        height = 2 * PADDING - 4 + _LINE * len(lines) + (_LINE + _BAR if self.known else 0)
        return _Box(lines, detail, _clean_lines(words + tooltip), width + 2 * PADDING, height)

    def _set_frame(self) -> None:
        n = len(self.boxes)
        last = max(self.layout.layer)
        tall = [0.0] * (last + 1)
        for node in range(n):
            tall[self.layout.layer[node]] = max(tall[self.layout.layer[node]], self.boxes[node].height)
        self.top, self.bottom = [], []
        at = MARGIN
        for height in tall:
            self.top.append(at)
            self.bottom.append(at + height)
            at += height + ROW_GAP
        edges = [x for bend in self.layout.bends.values() for x in bend]
        low = min([self.layout.x[v] - self.boxes[v].width / 2 for v in range(n)] + edges)
        high = max([self.layout.x[v] + self.boxes[v].width / 2 for v in range(n)] + edges)
        self.shift = MARGIN - low
        self.width = high - low + 2 * MARGIN
        self.legend = self._legend() if self.known and not self.graph.values else []
        self.width = max(
            [self.width] + [x + text_width(text, SMALL) + MARGIN for x, _, text, _ in self.legend]
        )
        self.height = self.bottom[-1] + MARGIN + (self.legend[-1][1] + 8 if self.legend else 0)

    def _legend(self) -> list[tuple[float, float, str, str]]:
        """Entries (x of the text, y below the drawing, text, colour), wrapped to the drawing's width."""
        made = []
        x, y = MARGIN, 16.0
        limit = max(self.width, 240.0) - MARGIN
        for code, label in enumerate(self.graph.classes):
            text = _short(_clean(str(label)), _WRAP)
            needed = 16 + text_width(text, SMALL) + 14
            if x > MARGIN and x + needed > limit:
                x, y = MARGIN, y + _LINE
            made.append((x + 16, y, text, PALETTE[code % len(PALETTE)]))
            x += needed
        return made

    # ---------------------------------------------------------------- writing

    def text(self) -> str:
        graph = self.graph
        width, height = _number(self.width), _number(self.height)
        kind = "Decision tree" if graph.is_tree else "Decision diagram"
        tests, leaves = count_of(graph.n_nodes, "test"), count_of(graph.n_leaves, "leaf")
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" font-family="{FONT}">',
            f"<title>{kind}: {tests}, {leaves}, depth {graph.depth}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            '<g fill="none" stroke="#8a8a8a" stroke-width="1.5">',
            *map(self._arc, self.layout.bends),
            "</g>",
            *(self._node(node) for node in range(len(self.boxes))),
            f'<g font-size="{SMALL:g}" fill="#333333">',
            *map(self._arc_label, self.layout.bends),
            *self._legend_text(),
            "</g>",
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _ports(self) -> dict[tuple[int, int], float]:
        """Where arcs leave: yes on the left in trees; in diagrams the side nearer to where the arc goes."""
        x, made = self.layout.x, {}
        for node, pair in enumerate(self.children):
            if len(pair) == 1:
                made[node, 0] = x[node]
            if len(pair) < 2:
                continue
            lean = min(self.boxes[node].width / 4, 36.0)
            first, second = ([*self.layout.bends[node, side], x[pair[side]]][0] for side in (0, 1))
            sign = 1 if first > second else -1
            made[node, 0], made[node, 1] = x[node] + sign * lean, x[node] - sign * lean
        return made

    def _entries(self) -> dict[tuple[int, int], float]:
        """Where arcs arrive: spread over the top of the node, in the order in which they come."""
        coming: dict[int, list[tuple[float, tuple[int, int]]]] = {}
        for (node, side), bends in self.layout.bends.items():
            last = bends[-1] if bends else self.ports[node, side]
            coming.setdefault(self.children[node][side], []).append((last, (node, side)))
        made = {}
        for child, arcs in coming.items():
            step = min(14.0, 0.7 * self.boxes[child].width / len(arcs))
            for rank, (_, arc) in enumerate(sorted(arcs)):
                made[arc] = self.layout.x[child] + (rank - (len(arcs) - 1) / 2) * step
        return made

    def corner(self, node: int) -> tuple[float, float]:
        """The upper left corner of a node."""
        return self.layout.x[node] + self.shift - self.boxes[node].width / 2, self.top[
            self.layout.layer[node]
        ]

    def corners(self, arc: tuple[int, int]) -> tuple[list[float], list[float]]:
        """The points that an arc passes: its start, its label, and the ends of each row on its way."""
        node = arc[0]
        row = self.layout.layer[node]
        x, y = self.ports[arc] + self.shift, self.top[row] + self.boxes[node].height
        xs, ys = [x, x], [y, y + _LABEL / 2]
        for step, stop in enumerate([*self.layout.bends[arc], self.entries[arc]], start=row + 1):
            xs += [xs[-1], stop + self.shift]
            ys += [self.bottom[step - 1] + _LABEL, self.top[step]]
        return xs, ys

    def _arc(self, arc: tuple[int, int]) -> str:
        """Vertical through rows and under its label, curved in between: an arc never runs over a node."""
        xs, ys = self.corners(arc)
        path = [f"M{_number(xs[0])} {_number(ys[0])}"]
        for x, to, start, end in zip(xs[2::2], xs[3::2], ys[2::2], ys[3::2], strict=True):
            middle, at = _number((start + end) / 2), _number(to)
            path.append(f"V{_number(start)}C{_number(x)} {middle} {at} {middle} {at} {_number(end)}")
        return f'<path d="{"".join(path)}"/>'

    def _arc_label(self, arc: tuple[int, int]) -> str:
        """On the arc, right under its node, on a white ground."""
        node, side = arc
        answer = self.arcs[node][side][0]
        x = self.ports[arc] + self.shift
        y = self.top[self.layout.layer[node]] + self.boxes[node].height
        width = 22 if answer in ("yes", "no") else 38
        return (
            f'<rect x="{_number(x - width / 2)}" y="{_number(y + 3)}" width="{width}" height="11" '
            f'fill="#ffffff"/>'
            f'<text x="{_number(x)}" y="{_number(y + 12)}" text-anchor="middle">{answer}</text>'
        )

    def _node(self, node: int) -> str:
        box, graph = self.boxes[node], self.graph
        x, y = self.corner(node)
        leaf = graph.feature[node] < 0
        colour = leaf_colour(graph, node) if leaf else "#444444"
        fill = _mixed(colour, 255, 0.84) if leaf else "#ffffff"
        frame = (
            f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(box.width)}" '
            f'height="{_number(box.height)}" rx="{12 if leaf else 3}" fill="{fill}" '
            f'stroke="{_mixed(colour, 0, 0.15)}" stroke-width="{2 if leaf else 1.2}"/>'
        )
        middle, at = _number(x + box.width / 2), y + PADDING - 2
        bold = ' font-weight="bold"' if leaf else ""
        texts = []
        for line in box.lines:
            at += _LINE
            texts.append(
                f'<text x="{middle}" y="{_number(at - 4)}" font-size="{TEXT:g}"{bold}>{escape(line)}</text>'
            )
        if self.known:
            at += _LINE
            texts.append(
                f'<text x="{middle}" y="{_number(at - 4)}" font-size="{SMALL:g}" fill="#333333">'
                f"{escape(box.detail)}</text>"
            )
            texts.extend(self._bar(node, x + PADDING, at + 2, box.width - 2 * PADDING))
        return "\n".join(
            [
                '<g text-anchor="middle" fill="#111111">',
                f"<title>{escape(box.tooltip)}</title>",
                frame,
                *texts,
                "</g>",
            ]
        )

    def _bar(self, node: int, x: float, y: float, width: float) -> list[str]:
        """Shares of the classes at a node."""
        counts = [float(count) for count in self.graph.counts[node]]
        total = sum(counts)
        made = []
        for code, count in enumerate(counts):
            if count <= 0:
                continue
            piece = width * count / total
            made.append(
                f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(piece)}" height="{_BAR:g}" '
                f'fill="{PALETTE[code % len(PALETTE)]}" stroke="#ffffff" stroke-width="0.5"/>'
            )
            x += piece
        return made

    def _legend_text(self) -> list[str]:
        made = []
        for x, y, text, colour in self.legend:
            base = self.bottom[-1] + y + 6
            made.append(
                f'<rect x="{_number(x - 15)}" y="{_number(base - 9)}" width="10" height="10" '
                f'fill="{colour}"/>'
                f'<text x="{_number(x)}" y="{_number(base)}">{escape(text)}</text>'
            )
        return made


def text_width(text: str, size: float) -> float:
    """Estimated width of a line in pixels, on the generous side of common sans-serif fonts."""
    ems = 0.0
    for letter in text:
        if unicodedata.east_asian_width(letter) in "WF":
            ems += 1.05
        elif letter in _NARROW:
            ems += 0.36
        elif letter in _WIDE or letter.isupper():
            ems += 0.78 if letter not in _WIDE else 0.98
        else:
            ems += 0.62
    return ems * size


def _lines(text: str) -> tuple[str, ...]:
    """At most two lines, broken before the operator where that is enough."""
    if len(text) <= _WRAP:
        return (text or '""',)
    parts = tuple(_OPERATOR.split(text, maxsplit=1))
    if len(parts) == 2 and max(map(len, parts)) <= _WRAP:
        return parts
    return tuple(textwrap.wrap(text, _WRAP, max_lines=2, placeholder="…"))


def _clean(text: str) -> str:
    """One line without the control characters and lone surrogates that XML forbids."""
    kept = ["�" if unicodedata.category(c) in ("Cc", "Cs", "Cn") else c for c in " ".join(text.split())]
    return "".join(kept)


def _clean_lines(text: str) -> str:
    return "\n".join(_clean(line) for line in text.splitlines())


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _mixed(colour: str, other: int, share: float) -> str:
    """The colour with a share of white (255), light enough for black text, or of black (0), for outlines."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(other * share + part * (1 - share)):02x}" for part in parts)


def _percent(share: float) -> str:
    text = f"{100 * share:.0f}"
    return "< 1 %" if 0 < share < 0.005 else f"{text} %"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
