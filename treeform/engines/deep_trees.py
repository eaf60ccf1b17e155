"""DeepTreeSearch: the best deep tree that a time limit allows, without a proof.

The search builds trees from exact trees of depth two and three; see ``treeform/native/deep`` and ``docs/engines``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treeform import _core
from treeform.data import Dataset
from treeform.engines.checks import (
    LARGEST_SEED,
    SCAN_PATHS,
    check_between,
    check_memory,
    check_seed,
    check_simd,
    take_plain_numbers,
)
from treeform.engines.contree import ConTree
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask


@dataclass(frozen=True, kw_only=True)
class DeepTreeSearch(Engine):
    """A heuristic search for trees of depth four to eight on numeric features; it proves nothing.

    `ConTree` runs the same search beside its proof. This engine gives first models to other searches, and the same
    seed and work give the same tree.

    Parameters
    ----------
    seed : int
        Of the choices that are made by chance.
    work_limit : int or None
        Elements that the search may read, about: some 5e9 to 10e9 take a second. None: no limit but that on time.
    memory_limit : int or None
        Bytes by which the process may grow.
    simd : str
        ``auto``, ``avx512``, ``avx2``, ``portable`` or ``plain``: the same trees at different speeds.

    Examples
    --------
    >>> DeepTreeSearch(seed=1).name
    'deep-tree-search'
    """

    seed: int = 0
    work_limit: int | None = None
    memory_limit: int | None = None
    simd: str = "auto"

    name: ClassVar[str] = "deep-tree-search"
    understands: ClassVar[frozenset[str]] = ConTree.understands
    by_name_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        take_plain_numbers(self)
        check_memory("DeepTreeSearch", self.memory_limit)
        check_simd("DeepTreeSearch", self.simd, SCAN_PATHS)
        check_seed("DeepTreeSearch", self.seed)
        if self.work_limit is not None:
            check_between("DeepTreeSearch", "work_limit", self.work_limit, 1, LARGEST_SEED, 10**10)

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Search for a tree that costs little; see `Engine.run`.

        Raises SpecError if the task is not possible, or its costs exceed 2**60.
        """
        clashes = () if task.meetings is None else task.meetings.classes_on_sides(data.n_features)
        return self._core().search(
            data, task, run, prove=False, work_limit=self.work_limit or 0, clashes=clashes
        )

    @classmethod
    def first_trees(cls) -> DeepTreeSearch:
        """The search that ends with its first trees, within about the time of CART."""
        return cls(work_limit=1)

    @staticmethod
    def comes_first(data: Dataset) -> bool:
        """Whether the proof takes long to find a good tree of depth two on this table."""
        return bool(_core.is_dear(data.n_samples, data.n_features, data.n_classes))

    def _core(self) -> ConTree:
        return ConTree(seed=self.seed, memory_limit=self.memory_limit, simd=self.simd)
