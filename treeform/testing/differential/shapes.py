"""The shape of a question, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """The shape of a question: widths of a diagram, or None for a tree."""

    depth: int
    widths: tuple[int, ...] | None = None
    hyperplanes: bool = False

    @property
    def text(self) -> str:
        """As treeform reads it."""
        plain = f"tree:{self.depth}" if self.widths is None else "diagram:" + ",".join(map(str, self.widths))
        return plain + (":multivariate" if self.hyperplanes else "")
