"""``python -m treeform`` is the ``treeform`` command."""

from treeform.cli import main

main()
