"""Work that is shared by processes and machines: who does it, and one search in many places."""

from treeform.distribute.search import Distribution

__all__ = ["Distribution"]
