"""Values that the components of one formulation publish for each other, and read by type.

Ports hold expressions under agreed names, for any reader. Values that only the components of one formulation need
(node numbering, thresholds, columns to write a start into) have classes of their own, derived from `Shared`.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar

from treeform.errors import SpecError


class Shared:
    """Base class of a value that one component publishes and others read.

    Attributes
    ----------
    publisher : str
        Name of the component that publishes it, for the message where it is missing.
    """

    publisher: ClassVar[str]


S = TypeVar("S", bound=Shared)


class SharedValues:
    """The shared values of one model under construction: at most one of each type."""

    def __init__(self) -> None:
        self._values: dict[type[Shared], Shared] = {}

    def publish(self, value: S) -> S:
        """Make ``value`` readable by its type.

        Raises
        ------
        SpecError
            If a value of this type was published before.
        """
        kind = type(value)
        if kind in self._values:
            raise SpecError(
                f"{kind.__name__} is published twice",
                cause=f"two components do the work of {kind.publisher}",
                fix="leave one of them out",
            )
        self._values[kind] = value
        return value

    def get(self, kind: type[S]) -> S:
        """The value of a type.

        Raises
        ------
        SpecError
            If no component has published one.
        """
        value = self.find(kind)
        if value is None:
            raise SpecError(
                f"no component has published {kind.__name__}",
                cause=f"{kind.publisher} publishes it, and no such component was built before",
                fix=f"add {kind.publisher} to the formulation, before the components that read {kind.__name__}",
            )
        return value

    def find(self, kind: type[S]) -> S | None:
        """The value of a type, or None."""
        value = self._values.get(kind)
        assert value is None or isinstance(value, kind)
        return value
