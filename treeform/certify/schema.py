"""The format of certificates: pydantic models, and the JSON Schema that is made from them.

Unknown keys are refused everywhere. What no check verifies stands under a key ``metadata``, and nothing else does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from treeform.data.roles import TableOptions

FORMAT = "treeform.certificate/2"
FAMILY = "treeform.family/1"

EXACT = r"^-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?$"
Exact = Annotated[str, Field(pattern=EXACT, description="exact number, such as 12 or 25/2")]
Count = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256, hexadecimal")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class GroupsPart(_Part):
    """Groups that were given as an array: they are no part of the table, and `check` takes them again."""

    name: str = Field(description="how requirements refer to them")
    labels: list[str | int | float | bool] = Field(description="of the groups, in the order of their codes")
    called: str | None = Field(description="the name that the array had; part of the requirements' labels")
    digest: Digest = Field(description="of labels and codes")


class ReadingPart(_Part):
    """The user's choices about columns."""

    categorical: list[str] = Field(description="columns whose values are levels")
    missing: Literal["value", "error"]
    dates: Literal["days"] | None
    abstain: str | None = Field(None, description="label of leaves that decide nothing")
    weight_grid: Annotated[str, Field(pattern=f"^auto$|{EXACT}")] | None = Field(
        None, description="sample weights are rounded to multiples of it; default: exact"
    )

    def options(self) -> TableOptions:
        """What `Dataset.from_user` takes."""
        return TableOptions.of(self.categorical, self.missing, self.dates, self.abstain, self.weight_grid)


class WeightsPart(_Part):
    """Sample weights that were rounded because that was asked for; the digest covers them as they were given."""

    unit: Exact = Field(description="weights are whole multiples of it")
    rounded: str = Field(description="to what, and by how much")


class RowsPart(_Part):
    """By what the rows are known again in another order, and what differs is found; see docs/design/trust."""

    in_table: Count = Field(description="rows of the table, those of weight 0 included")
    digest: Digest = Field(description="as that of the data, of the rows in an order of their own")
    prints: Annotated[str, Field(pattern="^([0-9a-f]{16})*$")] = Field(
        description="16 hexadecimal digits for each row: of its features and target"
    )
    columns: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{16}$")]] = Field(
        description="of all values of a column, in any order"
    )
    of_target: bool = Field(description="whether the target is part of the print of a row")


class QuantityPart(_Part):
    """The target of a regression problem; the digest covers its values."""

    unit: Exact = Field(description="targets are whole multiples of it")
    rounded: str = Field(description="what was rounded, and by how much; empty: nothing")


class DataPart(_Part):
    """What the certificate is about; the digest covers the values."""

    digest: Digest = Field(description="of features, labels, weights, excluded columns and groups")
    n_samples: Count
    features: list[str]
    classes: list[str]
    exclude: list[str]
    reading: ReadingPart
    weighted: bool
    groups: list[GroupsPart]
    rows: RowsPart | None = Field(None, description="left out by older versions")
    weights: WeightsPart | None = Field(None, description="default: exact")
    quantity: QuantityPart | None = Field(None, description="default: the target is a class")


class TreePart(_Part):
    """The shape of a tree."""

    type: Literal["tree"]
    depth: Annotated[int, Field(ge=1)]
    splits: Literal["multivariate"] | None = Field(None, description="default: univariate")


class DiagramPart(_Part):
    """The shape of a layered diagram."""

    type: Literal["diagram"]
    widths: list[Annotated[int, Field(ge=1)]]
    splits: Literal["multivariate"] | None = Field(None, description="default: univariate")


class RequirementPart(_Part):
    """One requirement, as `Requirement.to_json` writes it. An array of groups stands as ``{"array": name}``."""

    label: str
    name: str
    parameters: dict[str, Any]


class RestrictionPart(_Part):
    """Rows of a formulation of one's own that narrow the problem; they are code, which no certificate holds."""

    components: list[str]
    formulation: str = Field(description="what the components were added to")


class ProblemPart(_Part):
    """The question that is answered."""

    shape: Annotated[TreePart | DiagramPart, Field(discriminator="type")]
    objective: str
    requirements: list[RequirementPart]
    restriction: RestrictionPart | None = Field(None, description="default: there is none")


class AnswerPart(_Part):
    """Status and figures. The figures of a model are there exactly when there is a model."""

    status: Literal["optimal", "feasible", "infeasible", "unknown", "judged"] = Field(
        description="judged: of a model that was given; nothing is claimed of others, and it may violate requirements"
    )
    objective: Exact | None
    bound: Exact | None
    errors: Count | None = None
    weighted_errors: Count | None = Field(None, description="in units of weight")
    confusion: list[list[Count]] | None = Field(None, description="rows by true and predicted class")
    leaf_of_sample: list[Count] | None = None
    violations: dict[str, Exact] | None = None


class Multiplier(_Part):
    """The price of one row of a requirement."""

    requirement: str
    value: Exact


class LagrangianRoute(_Part):
    """Multipliers that price rows of requirements into predictions."""

    kind: Literal["lagrangian"]
    multipliers: list[Multiplier] = Field(description="one for each row of the requirements named, in order")


class ProofRoute(_Part):
    """A refutation on file, of clauses that are derived from the data."""

    kind: Literal["proof"]
    file: str
    sha256: Digest
    formulation: str
    at_most: Exact | None = Field(description="no model of at most this value; null: no model at all")
    rows: list[Count] | None = Field(description="rows of the table that the clauses speak of; null: all")


Route = Annotated[LagrangianRoute | ProofRoute, Field(discriminator="kind")]


class ClaimMetadata(_Part):
    """Solver or engine of the claim, and its settings; not checked."""

    by: str
    seconds: float | int = 0
    relaxation: list[str] = Field(
        default_factory=list, description="what the prover left out, as it says itself"
    )
    details: dict[str, Any] = Field(
        default_factory=dict, description="such as the engine that made it: another one proves it again first"
    )


class ClaimPart(_Part):
    """``upper``: a model of this value is known; ``lower``: none is below; ``infeasible``: there is none."""

    kind: Literal["upper", "lower", "infeasible"]
    value: Exact | None
    route: Route | None = Field(
        description="a witness from which it can be proved again; null: there is none"
    )
    metadata: ClaimMetadata


class Metadata(_Part):
    """About the run; not checked."""

    treeform: str
    created: str
    solver: str
    formulation: str | None
    seconds: float | int
    limit: str | None
    target: str | None = Field(description="column of the labels, where known")
    weight: str | None = Field(None, description="column of the weights, where known")


class DocumentPart(_Part):
    """What every certificate has."""

    data: DataPart
    problem: ProblemPart
    metadata: Metadata
    digest: Digest = Field(description="of all the rest: it notices accidents, not forgers")


class MemberPart(_Part):
    """An answer: status, figures, model and claims."""

    answer: AnswerPart
    model: dict[str, Any] | None = Field(description="as DecisionGraph.save writes it")
    claims: list[ClaimPart]


class CountedPart(_Part):
    """How many near-optimal models there are, each tree once in its normal form."""

    up_to: Exact = Field(description="the objective up to which all are counted")
    threshold: Exact = Field(description="the objective up to which models are near-optimal")
    models: Count


class CertificatePart(DocumentPart, MemberPart):
    """A certificate of treeform."""

    format: Literal["treeform.certificate/2"]
    near_optimal: CountedPart | None = Field(None, description="default: no models were counted")


class PlacePart(_Part):
    """A problem of a family; null: without that bound."""

    depth: Annotated[int, Field(ge=1)] | None = Field(description="at most so many levels")
    tests: Count | None = Field(description="at most so many tests")
    bound: Exact | None = Field(description="of the requirement that is moved")


class NestedPart(MemberPart):
    """The answer to one problem of a family."""

    at: PlacePart


class OverPart(_Part):
    """What the problems of a family bound."""

    tests: bool
    depth: bool
    requirement: RequirementPart | None = Field(
        description="whose bound is moved; the number in it plays no part"
    )
    loosest: Exact | None
    tightest: Exact | None


class FamilyPart(DocumentPart):
    """A certificate of nested problems: a size table, a Pareto curve or a frontier."""

    format: Literal["treeform.family/1"]
    over: OverPart
    complete: bool = Field(description="whether every optimum of the family follows from the members")
    members: list[NestedPart]


def json_schema() -> dict[str, Any]:
    """The JSON Schema of certificates, of one problem or of a family."""
    either: TypeAdapter[Any] = TypeAdapter(
        Annotated[CertificatePart | FamilyPart, Field(discriminator="format")]
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Certificate ({FORMAT}, {FAMILY})",
        **either.json_schema(),
    }
