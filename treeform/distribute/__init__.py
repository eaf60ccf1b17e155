"""Work that is shared by processes and machines: who does it, and one search in many places."""

from treeform.distribute.search import HERE, Distribution

__all__ = ["HERE", "Distribution"]
