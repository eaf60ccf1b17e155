"""Evaluation of a given model: objective, errors, every requirement, and a certificate of its violations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treeform.graph import DecisionGraph
from treeform.graph.evaluate import errors
from treeform.graph.reading import read_model
from treeform.language.findings import finding
from treeform.language.question import Question
from treeform.solve.verification import judge_candidate, verify
from treeform.utils.text import count_of, exact_text

if TYPE_CHECKING:
    from treeform.certify.certificate import Certificate


@dataclass(frozen=True)
class Judgement:
    """The value and violations of a given model on the data of a problem. It makes no claim about other models.

    Examples
    --------
    >>> import treeform as tf
    >>> problem = tf.Problem([[1.0], [2.0], [3.0]], ["a", "b", "a"], shape="tree:1").add(tf.MaxErrors(0))
    >>> print(problem.judge({"predict": "a"}))
    VIOLATED   max_errors:0: 1 error; at most 0 is allowed
    0 tests, depth 0, objective 1, 1 error on 3 rows
    fits tree:1
    """

    question: Question
    """The problem."""
    graph: DecisionGraph
    """The model as it was given; in its normal form if only that one satisfies the problem ("Admissible models" in the
    design documents). It decides the rows of the problem alike."""
    objective: Fraction
    """The value of the problem's objective."""
    violations: dict[str, Fraction]
    """What each requirement lacks, by its label; 0 where it is satisfied."""
    misfit: str | None
    """Why the model does not have the shape of the problem."""

    @property
    def ok(self) -> bool:
        """Whether the model has the shape and satisfies every requirement exactly."""
        return self.misfit is None and not any(self.violations.values())

    @property
    def errors(self) -> int:
        """Rows that are classified wrong."""
        return errors(self.graph, self.question.data)

    def certificate(self) -> Certificate:
        """The judgement with all that is needed to count it again, as plain JSON values.

        `treeform.check` verifies it against the data: a violation that is stated is verified when it is evaluated to be
        exactly that.
        """
        from treeform.certify.certificate import certify_model

        return certify_model(self.question, self.graph, self.objective, self.violations)

    @property
    def findings(self) -> dict[str, str]:
        """What each violated requirement lacks, by its label: "rates differ by 0.0214; at most 0.01 is allowed"."""
        requirements = zip(self.question.labels, self.question.requirements, strict=True)
        return {
            label: finding(requirement, self.graph, self.question.data)
            for label, requirement in requirements
            if self.violations[label]
        }

    def __str__(self) -> str:
        tests = count_of(self.graph.n_nodes, "test")
        worth = f"{tests}, depth {self.graph.depth}, objective {exact_text(self.objective)}"
        if not self.graph.values:
            worth += f", {count_of(self.errors, 'error')} on {count_of(self.question.data.n_samples, 'row')}"
        fits = f"fits {self.question.shape}"
        shape = fits if self.misfit is None else f"DOES NOT FIT {self.question.shape}: {self.misfit}"
        violated = [f"VIOLATED   {label}: {found}" for label, found in self.findings.items()]
        satisfied = [f"satisfied  {label}" for label, lacks in self.violations.items() if not lacks]
        head = violated if self.misfit is None else [shape, *violated]
        return "\n".join([*head, worth, *([shape] if self.misfit is None else []), *satisfied])


def judge(question: Question, model: Any) -> Judgement:
    """Judge a model; see `treeform.Problem.judge`."""
    graph = read_model(model, question.data).with_counts(question.data)
    found = verify(question, graph)
    if not found.ok:
        normal, again = judge_candidate(question, graph)
        if again.ok:
            graph, found = normal, again
    return Judgement(question, graph, question.to_units(found.value), found.violations, found.misfit)
