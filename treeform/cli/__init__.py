"""The command line: ``treeform fit | predict | check | explain | report | solvers``."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``treeform`` command."""
    from treeform.cli.signals import leave, run

    leave(run(_program))


def _program() -> None:
    from treeform.cli.app import app

    app(prog_name="treeform")


__all__ = ["main"]
