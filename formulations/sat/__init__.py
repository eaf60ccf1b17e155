"""Decision trees in clauses.

Avellaneda, "Efficient inference of optimal decision trees", AAAI 2020.
"""

from __future__ import annotations

from treeform.formulations.sat.depth import SatDepth
from treeform.formulations.sat.examples import contradictory_rows
from treeform.formulations.sat.leaves import LeafClasses
from treeform.formulations.sat.nodes import NodeFeatures
from treeform.formulations.sat.paths import ExamplePaths

__all__ = ["ExamplePaths", "LeafClasses", "NodeFeatures", "SatDepth", "contradictory_rows"]
