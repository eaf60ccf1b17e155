"""What the questions over one table share: its models, what each requirement lacks, and what each objective costs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from treeform.testing.attack import draw, models, rules, slices, values
from treeform.testing.attack.aims import Aim
from treeform.testing.attack.models import Facts
from treeform.testing.attack.plain import Plain
from treeform.testing.attack.rules import Spec

DIAGRAMS = ((1,), (1, 1), (1, 2))
MOST_STRUCTURES = 60
"""Of trees that predict values: the best values of each are computed in fractions."""
BUNDLE = 80
"""Cases that share a table."""
SLICED = 4
"""Every so many tables the requirements are asked of some of the rows."""


@dataclass
class World:
    """A table and a shape, with all models."""

    plain: Plain
    depth: int
    widths: tuple[int, ...] | None
    """Of a diagram; None of a tree."""
    of_values: bool
    abstain: bool
    data_kind: str
    weight_kind: str
    models: list[Facts]
    pool: list[Spec]
    """The requirements that questions draw from."""
    aims: list[Aim]
    _lacks: dict[str, list[Fraction]] = field(default_factory=dict)
    _values: dict[str, list[Fraction | None]] = field(default_factory=dict)

    @property
    def shape(self) -> str:
        """As treeform reads it."""
        if self.widths is None:
            return f"tree:{self.depth}"
        return "diagram:" + ",".join(map(str, self.widths))

    def lacks(self, spec: Spec) -> list[Fraction]:
        """What each model lacks of a requirement."""
        key = repr(spec)
        if key not in self._lacks:
            self._lacks[key] = [rules.lacking(spec, m, self.plain) for m in self.models]
        return self._lacks[key]

    def costs(self, aim: Aim, specs: Sequence[Spec] = ()) -> list[Fraction | None]:
        """What each model costs; of a structure whose leaves are free the least, None where no values satisfy all."""
        ruling = [s for s in specs if self.of_values and s["kind"] in ("mean_parity", "monotone")]
        key = repr((aim, ruling))
        if key not in self._values:
            self._values[key] = [self._cost(aim, m, ruling) for m in self.models]
        return self._values[key]

    def _cost(self, aim: Aim, m: Facts, ruling: Sequence[Spec]) -> Fraction | None:
        if not self.of_values:
            return aim.value(m, self.plain)
        kind = str(aim.terms[0]["term"])
        rows = values.rows_of(ruling, m, self.plain)
        whole = kind == "absolute_error" and any(s["kind"] == "mean_parity" for s in ruling)
        if kind == "absolute_error" and rows:
            whole = True  # medians under orders of leaves are targets
        least = values.best(kind, m, self.plain, rows, whole, values.unit_of(self.plain))
        return None if least is None else least + aim.without(kind).value(m, self.plain)

    def ranked(self, aim: Aim, specs: Sequence[Spec]) -> list[tuple[Fraction, Facts]]:
        """The models that satisfy all requirements, the best first."""
        held = [s for s in specs if not (self.of_values and s["kind"] in ("mean_parity", "monotone"))]
        lacks = [self.lacks(s) for s in held]
        out = [
            (value, m)
            for i, (value, m) in enumerate(zip(self.costs(aim, specs), self.models, strict=True))
            if value is not None and not any(lack[i] for lack in lacks)
        ]
        return sorted(out, key=lambda pair: pair[0])

    def optimum(self, aim: Aim, specs: Sequence[Spec]) -> Fraction | None:
        """The least value; None where no model satisfies all requirements."""
        return min((value for value, _ in self.ranked(aim, specs)), default=None)


def draw_world(seed: int, number: int) -> World:
    """World ``number`` of a seed; tables with too many models are drawn again."""
    for attempt in range(200):
        rng = random.Random(f"{seed}/world/{number}/{attempt}")
        of_values = rng.random() < 0.2
        widths = None if of_values or rng.random() < 0.65 else rng.choice(DIAGRAMS)
        depth = len(widths) if widths else rng.choice((1, 2) if of_values else (1, 2, 2))
        data_kind, weight_kind = draw.DATA_KINDS[number % 6], draw.WEIGHT_KINDS[number // 6 % 6]
        plain = draw.draw_table(rng, data_kind, weight_kind, of_values, depth > 1)
        abstain = not of_values and rng.random() < 0.15
        if len(plain.classes) < 2 or len(plain.points) < 2:
            continue
        n_classes = 0 if of_values else len(plain.classes) + abstain
        most = MOST_STRUCTURES if of_values else 2500
        try:
            if widths is None:
                listed = models.trees(plain, depth, n_classes, most)
            else:
                listed = models.diagrams(plain, widths, n_classes, most)
        except models.TooMany:
            continue
        trees = widths is None
        pool = draw.draw_pool(rng, plain, listed, of_values, trees, abstain)
        if number % SLICED == SLICED - 1:
            other = random.Random(f"{seed}/slices/{number}/{attempt}")
            plain = replace(plain, mask=tuple(other.random() < 0.6 for _ in range(plain.n_rows)))
            pool = slices.sliced(other, pool, plain)
            orders = random.Random(f"{seed}/orders/{number}/{attempt}")
            pool = slices.sliced(orders, pool, plain, slices.OTHERS)
        aims = draw.draw_aims(rng, plain, pool, of_values, trees, abstain)
        return World(plain, depth, widths, of_values, abstain, data_kind, weight_kind, listed, pool, aims)
    raise AssertionError(f"no table small enough for world {number} of seed {seed}")
