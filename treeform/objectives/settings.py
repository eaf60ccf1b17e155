"""What the objectives of this package take in brackets."""

from __future__ import annotations

from collections.abc import Sequence

from treeform.errors import SpecError, did_you_mean


def only(settings: dict[str, str], known: Sequence[str], owner: str) -> dict[str, str]:
    """``given``, if it has no other keys than ``known``.

    Raises
    ------
    SpecError
        Naming the first key that is not known.
    """
    for key in settings:
        if key not in known:
            raise SpecError(
                f"the objective {owner} has no setting {key!r}",
                cause=f"its settings are {', '.join(known)}",
                fix=did_you_mean(key, known),
            )
    return settings
