"""Stages of a solve, one file for an idea; `treeform.solve.pipeline` has their order."""
