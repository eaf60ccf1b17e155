"""Decision trees in clauses.

Avellaneda, "Efficient inference of optimal decision trees", AAAI 2020.
"""

from __future__ import annotations

from treeform.data import contradictory_rows
from treeform.formulations.sat.depth import SatDepth
from treeform.formulations.sat.leaves import LeafClasses
from treeform.formulations.sat.nodes import NodeFeatures
from treeform.formulations.sat.paths import ExamplePaths
from treeform.formulations.sat.size import LabelledLeaves, SatSize

__all__ = [
    "ExamplePaths",
    "LabelledLeaves",
    "LeafClasses",
    "NodeFeatures",
    "SatDepth",
    "SatSize",
    "contradictory_rows",
]
