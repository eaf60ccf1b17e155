"""Requirements by name: those of this process and of installed packages."""

from __future__ import annotations

import contextlib

import treeform.requirements  # noqa: F401 - registers those that come with treeform
from treeform.errors import SpecError
from treeform.language.requirement import class_of, registered
from treeform.language.requirement_text import signature
from treeform.utils.extensions import REQUIREMENTS, extensions


def names() -> dict[str, str]:
    """Every requirement of this process and of installed packages: its name and its parameters as text."""
    for extension in extensions(REQUIREMENTS):
        with contextlib.suppress(SpecError):  # one that is broken is reported when it is used
            class_of(extension.name)
    return {name: ", ".join(signature(kind)) for name, kind in registered().items()}
