"""What people say about a model, from a file: owner, purpose, version, columns, and the questions of a model card."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from treeform.errors import SpecError, did_you_mean
from treeform.utils.files import read_text, reading


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Card(_Part):
    """The questions that only people can answer (Mitchell et al., Model cards for model reporting, FAT* 2019)."""

    intended_use: Annotated[StrictStr, Field(description="What is the model meant for, and who uses it?")] = (
        ""
    )
    out_of_scope: Annotated[StrictStr, Field(description="What must it not be used for?")] = ""
    training_data: Annotated[
        StrictStr, Field(description="Where do the training rows come from, and whom do they describe?")
    ] = ""
    evaluation_data: Annotated[StrictStr, Field(description="Where do the held-out rows come from?")] = ""
    factors: Annotated[
        StrictStr, Field(description="Which groups, instruments or environments make a difference?")
    ] = ""
    metrics: Annotated[StrictStr, Field(description="Why are these figures the ones that matter?")] = ""
    ethical_considerations: Annotated[
        StrictStr, Field(description="Whom can a decision harm, and how can it be appealed?")
    ] = ""
    caveats: Annotated[StrictStr, Field(description="What else should a user know?")] = ""


class About(_Part):
    """The keys of the file. Each is optional."""

    owner: Annotated[StrictStr, Field(description="who answers for the model")] = ""
    purpose: Annotated[StrictStr, Field(description="what it decides")] = ""
    version: Annotated[StrictStr, Field(description="its version")] = ""
    contact: Annotated[StrictStr, Field(description="whom to ask")] = ""
    sensitive: Annotated[
        tuple[StrictStr, ...], Field(description="columns whose groups the report compares")
    ] = ()
    columns: Annotated[dict[str, StrictStr], Field(description="what each column means")] = {}
    card: Annotated[Card, Field(description="the questions of a model card")] = Card()

    def fields(self) -> tuple[tuple[str, str], ...]:
        """Owner, purpose, version and contact, as far as they are given."""
        names = ("owner", "purpose", "version", "contact")
        return tuple((name, text) for name in names if (text := getattr(self, name)))

    def questions(self) -> tuple[tuple[str, str], ...]:
        """The questions of the card, and their answers; an empty one is not answered."""
        return tuple(
            (str(field.description), getattr(self.card, name)) for name, field in Card.model_fields.items()
        )


NOTHING = About()
"""Where no file is given."""


def read_about(path: Path | None) -> About:
    """Read the file; `NOTHING` for None. Raises SpecError if it cannot be read, is no TOML, or has unknown keys."""
    if path is None:
        return NOTHING
    with reading(path, "file", "check the path"):
        try:
            return About.model_validate(tomllib.loads(read_text(path)))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"]))
            known = Card.model_fields if key.startswith("card.") else About.model_fields
            unknown = first["type"] == "extra_forbidden"
            raise SpecError(
                f"{path}: {key} cannot be used",
                cause="it is not known" if unknown else first["msg"],
                fix=(did_you_mean(key.split(".")[-1], known) or f"known are {', '.join(known)}")
                if unknown
                else 'write texts in quotation marks; sensitive is a list of them, such as sensitive = ["sex"]',
            ) from None
        except (ValueError, RecursionError) as error:  # no TOML or UTF-8, or larger or deeper than is read
            raise SpecError(
                f"{path} is no TOML", cause=str(error), fix='write for example owner = "Credit risk"'
            ) from None
