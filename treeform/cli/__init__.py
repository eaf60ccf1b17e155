"""The command line: ``treeform fit | predict | check | explain | report | solvers``."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``treeform`` command."""
    from treeform.cli.signals import leave, run

    leave(run(_program))


def _program() -> None:
    from treeform.cli.app import app

    try:
        app(prog_name="treeform")
    except OSError as error:  # such as the help on its way to a disk that is full
        from treeform.cli.messages import refused_by_system

        raise SystemExit(int(refused_by_system(error))) from None


__all__ = ["main"]
