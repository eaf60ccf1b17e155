"""DecisionGraph: the one immutable type of decision trees and decision diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from treeform.data.dataset import Dataset
from treeform.data.unseen import Unseen
from treeform.graph import axes, description, dot, jsonio, rewrite, rules, svg
from treeform.graph.export import (
    c_code,
    javascript,
    json_rules,
    pmml,
    python_code,
    sklearn_tree,
    treelite_model,
)
from treeform.graph.export.program import OnnxNodes, needing
from treeform.graph.graph import FlatGraph
from treeform.utils.arguments import clear_call
from treeform.utils.arrays import Floats
from treeform.utils.text import count_of


@dataclass(frozen=True, eq=False, repr=False)
class DecisionGraph(FlatGraph):
    """A decision tree or decision diagram over encoded features.

    Node 0 is the root and children have larger indices than their parents. A sample at a test goes
    left when ``x[feature] <= threshold``, else right; features from F on are linear forms of the others.
    A test on the empty form is a *pass-through*: it has one child (``left == right``), and all samples take it.

    Attributes
    ----------
    feature : (N,) int32
        Encoded feature tested, -1 at leaves.
    threshold : (N,) float64
        NaN at leaves.
    left, right : (N,) int32
        Children, -1 at leaves.
    label : (N,) int32
        Class code, or position among `values`; -1 at tests.
    columns : tuple of F Column
        Meaning of the features.
    classes : (K,) array
        The labels behind the class codes.
    encoder : Encoder or None
        Turns a user's table into features; without one, `predict` takes the encoded matrix.
    counts : (N, K) int64 or float64
        Training weight of each class that reaches each node, in the user's units; all zero when unknown.
    forms : tuple of LinearForm
        What multivariate tests compare with their thresholds: a test on feature ``F + h`` reads ``forms[h]``.
        The form of a pass-through is empty.
    values : tuple of Fraction
        What leaves predict in regression, exactly, ascending; empty where they predict classes. There is one class
        then, and counts are weights.
    moments : (N, 2) float64
        Mean and standard deviation of the training targets that reach each node, in regression; NaN when unknown.

    Raises
    ------
    SpecError
        If the arrays are no decision graph.
    """

    # ---------------------------------------------------------------- rewriting and comparing

    def simplified(self, data: Dataset | None = None) -> DecisionGraph:
        """Drop what changes no prediction.

        Nodes that cannot be reached, tests whose outcome earlier tests decide, and tests with equal
        children go; with `data`, so do tests that send none of its weight one way.

        Parameters
        ----------
        data : Dataset, optional
            ``problem.data``.

        Returns
        -------
        DecisionGraph
            Predicts the same on every input (with `data`: on all its rows).
        """
        return rewrite.simplify(self, data)

    def canonical(self) -> DecisionGraph:
        """Put nodes in a standard order (by level, left first); a diagram's equal sub-graphs are merged."""
        return self._canonical

    @cached_property
    def _canonical(self) -> DecisionGraph:
        return rewrite.canonical(self)

    def _content(self) -> tuple[Any, ...]:
        arrays = (self.feature, self.left, self.right, self.label, self.threshold[self.feature >= 0])
        meaning = (self.forms, self.columns, tuple(self.classes.tolist()), self.values)
        return (*(array.tobytes() for array in arrays), *meaning)

    def __eq__(self, other: object) -> bool:
        """Same tests, thresholds, labels, columns and classes; counts do not matter."""
        if not isinstance(other, DecisionGraph):
            return NotImplemented
        return (
            self is other
            or self._content() == other._content()
            or self._canonical._content() == other._canonical._content()
        )

    def __hash__(self) -> int:
        return hash(self._canonical._content())

    # ---------------------------------------------------------------- showing and storing

    def rules(self) -> list[str]:
        """One line for each leaf: ``if age <= 37.5 and job = skilled then good  (support 120, errors 7)``."""
        return rules.rules(self)

    def to_text(self) -> str:
        """Indented outline of the tests and leaves."""
        return rules.outline(self)

    def to_json(self) -> dict[str, Any]:
        """Plain values with a digest; thresholds come back exactly."""
        return jsonio.to_json(self)

    @classmethod
    def from_json(cls, value: Any, validate: str = "digest") -> DecisionGraph:
        """Rebuild a graph, checking everything; nothing is evaluated or unpickled.

        Parameters
        ----------
        value : dict
            From `to_json`.
        validate : {"digest", "structure"}
            "structure" accepts a file made or changed by hand, as long as it is a decision graph.

        Raises
        ------
        CertificateError
            If the value is malformed, or was changed after it was written.
        """
        return jsonio.from_json(cls, value, validate)

    def to_dict(self) -> dict[str, Any]:
        """The model as `from_dict` reads it: questions about the user's columns, and labels.

        Raises
        ------
        SpecError
            If the model has hyperplanes.
        """
        return description.describe(self)

    @classmethod
    @clear_call
    def from_dict(cls, model: Any, data: Dataset) -> DecisionGraph:
        """Make a model from a description in the terms of the user's table, to be judged or to start from.

        Parameters
        ----------
        model : dict
            A leaf is ``{"predict": label}``, in regression ``{"value": number}`` (or text, ``"1/3"``). A test is
            ``{"column": name, QUESTION, "yes": node, "no": node}`` with one of the questions ``"at_most": value``
            (numbers, dates, ordered levels), ``"below": value``, ``"is": level`` (or true and false),
            ``"among": [level, ...]`` and ``"is_missing": True``. Missing values go to ``no``, or to ``yes`` with
            ``"or_missing": True``. Nodes may be named, and shared:
            ``{"root": "a", "nodes": {"a": {..., "yes": "b"}, "b": {...}}}``.
        data : Dataset
            The rows to which the model belongs, such as ``problem.data``.

        Raises
        ------
        SpecError
            If it is no model, or has columns, levels or labels that the data do not have; the message names the place.

        Examples
        --------
        >>> import treeform as tf
        >>> problem = tf.Problem([[1.0], [2.0], [3.0]], ["a", "b", "b"], shape="tree:1")
        >>> tree = {"column": "x0", "at_most": 1.5, "yes": {"predict": "a"}, "no": {"predict": "b"}}
        >>> print(tf.DecisionGraph.from_dict(tree, problem.data).rules()[0])
        if x0 <= 1.5 then a  (support 1, errors 0)
        """
        return cls._with_meaning(description.arrays_of(model, data), data)

    def save(self, path: str | Path) -> None:
        """Write the model as a JSON file.

        Parameters
        ----------
        path : str or Path
            `load` reads it.
        """
        jsonio.save(self, path)

    @classmethod
    def load(cls, path: str | Path, validate: str = "digest") -> DecisionGraph:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        validate : str
            As in `from_json`.
        """
        return jsonio.load(cls, path, validate)

    def to_dot(self) -> str:
        """Graphviz source."""
        return dot.to_dot(self)

    def to_svg(self) -> str:
        """Standalone SVG drawing (text)."""
        return svg.to_svg(self)

    def to_python(self) -> str:
        """A Python module with a function ``predict(row)``, which needs nothing but Python.

        Raises
        ------
        SpecError
            If a label has no literal.
        """
        return python_code.to_python(self)

    def to_c(self) -> str:
        """C99 with a struct of the columns and ``int predict(const struct model_row *)``, in regression ``double``.

        Raises
        ------
        SpecError
            If a column has levels that are text and levels that are numbers.
        """
        return c_code.to_c(self)

    def to_javascript(self) -> str:
        """A JavaScript module with a function ``predict(row)``."""
        return javascript.to_javascript(self)

    @clear_call
    def to_sql(
        self,
        table: str | None = None,
        *,
        dialect: str = "postgres",
        keep: str | Sequence[str] = (),
        column: str = "prediction",
        X: Any = None,
    ) -> str:
        """An SQL query over a table of the user's columns, or only the expression.

        Parameters
        ----------
        table : str, optional
            By default the expression alone.
        dialect : str, default "postgres"
            What sqlglot knows, such as "sqlite", "duckdb", "bigquery", "snowflake" or "tsql".
        keep : str or sequence of str
            Columns to select before the prediction.
        column : str, default "prediction"
        X : DataFrame or array (m, F), optional
            Rows that must have an answer. A hyperplane has none, NULL, where its sum is so close to the threshold that
            rounding could decide; sums of whole numbers are never in doubt.

        Raises
        ------
        SpecError
            If sqlglot is not installed, the dialect is unknown, shared nodes make the expression too large, a
            hyperplane reads dates, or a row of ``X`` would have no answer (they are named).
        """
        with needing("sqlglot", "as SQL"):
            from treeform.graph.export import sql

        encoded = None if X is None else self._matrix(X)
        kept = (keep,) if isinstance(keep, str) else tuple(keep)
        return sql.to_sql(self, table, dialect, kept, column, encoded)

    @clear_call
    def to_onnx(self, nodes: OnnxNodes = "auto") -> Any:
        """An ONNX model: an input of shape (m, 1) for each tested column, the outputs ``label`` and ``scores``.

        In regression the output is ``value``, in double precision. Numbers, booleans and dates (days since 1970-01-01)
        are doubles, NaN where one is missing; levels are strings, empty where one is missing. Nothing is rounded;
        hyperplanes read values of a size between 2**-300 and 2**300. A row that lacks a value in a column that had none
        missing in training has scores of 0 and no label: empty text, or one less than the least number; NaN in
        regression. A column that is called like an output, or begins so, adds an underscore to the output's name.

        Parameters
        ----------
        nodes : {"auto", "tree", "shared"}, default "auto"
            "tree" is the operator TreeEnsembleClassifier, in which shared nodes are written out for each way to them;
            "shared" is a Loop over tables of the nodes, each of which stands once. "auto" is "tree" for a tree, and
            for a diagram what takes fewer bytes. The model's ``doc_string`` says which, and how many nodes there are.

        Returns
        -------
        onnx.ModelProto
            ``onnx.save(graph.to_onnx(), "model.onnx")`` writes it.

        Raises
        ------
        SpecError
            If onnx is not installed, the model reads no column, or the tree asked for has more than 100,000 nodes.
        """
        with needing("onnx", "as ONNX"):
            from treeform.graph.export import onnx_model

        return onnx_model.to_onnx(self, nodes)

    def to_pmml(self) -> str:
        """PMML 4.4: a TreeModel over the tested columns, with the counts of the classes at its leaves.

        Dates are days since 1970-01-01. A row that lacks a value in a column that had none missing in training is
        invalid; a level that training did not have is taken as it is, and is none of the known ones. Hyperplanes are
        derived fields that lose nothing to rounding, for values of a size between 2**-300 and 2**300.

        Raises
        ------
        SpecError
            If one column has levels of different types, or shared nodes make it too large.
        """
        return pmml.to_pmml(self)

    def to_treelite(self) -> Any:
        """A treelite model over the matrix that `to_matrix` makes, in double precision.

        Returns
        -------
        treelite.Model
            Its output has the score 1 for the class predicted, in the order of `classes`, and no score for a row that
            lacks a value in a column that had none missing in training; in regression the value, and NaN.
            ``attributes`` of its JSON names columns, levels and labels.
            ``graph.to_treelite().serialize("model.treelite")`` writes it.

        Raises
        ------
        SpecError
            If treelite is not installed, or shared nodes make it too large.
        """
        return treelite_model.to_treelite(self)

    def to_matrix(self, X: Any, unseen: str | Unseen = "warn") -> Floats:
        """The tested columns of a table, as `to_treelite` reads them: (m, C) float64.

        Columns stand in the order in which the model tests them first. Missing values are NaN, dates days since
        1970-01-01, levels positions in the list of levels, and -1 where training did not have the level; ``X`` and
        ``unseen`` as in `predict`. A hyperplane has a column of its own, the double nearest to its exact sum.
        """
        return treelite_model.matrix(self, self.encode(X, unseen))

    @clear_call
    def to_sklearn(self, X: Any) -> Any:
        """A fitted ``DecisionTreeClassifier`` or ``DecisionTreeRegressor`` that reads ``graph.encode(X, nan=True)``.

        scikit-learn rounds values to single precision, so each threshold is moved to the nearest one that sends the
        rows of ``X`` the same way. A leaf whose label is not its most frequent class has the probability 1 for it.
        Unlike `predict`, the tree takes a missing value in a column that had none in training: it goes right.

        Parameters
        ----------
        X : DataFrame or array (m, F)
            The rows that the model was fitted on: a table as `predict` takes it, or the encoded matrix as an array.

        Returns
        -------
        sklearn.tree.DecisionTreeClassifier

        Raises
        ------
        SpecError
            If rows on both sides of a threshold are equal in single precision (they are named), values are beyond its
            range, the model has hyperplanes, or shared nodes make it too large.
        """
        return sklearn_tree.to_sklearn(self, self._matrix(X))

    def to_json_rules(self) -> dict[str, Any]:
        """Rules for rule engines: one for each path to a leaf; no row satisfies two of them.

        A rule has conditions ``{"column", "is", "value", "or_missing", "holds"}`` and a label. ``is`` is one of "at
        most", "before" and "until" (days since 1970-01-01), "is true", "is level", "among" and "is missing". Of a
        missing value all but the last are false, or true with ``or_missing``. ``holds`` is the answer that the rule
        needs. A hyperplane has ``sum`` in place of ``column``: a list of ``{"weight", "column", "of"}``, whose exact
        sum, rounded to the nearest double, is compared. ``of`` is "number", "days" (since 1970-01-01), "true" (1 or
        0), "level" (1 if it is the ``level``, or 0) or "position" (in ``levels`` from 0 on, -1 for any other).

        Raises
        ------
        SpecError
            If the model has too many paths.
        """
        return json_rules.to_json_rules(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the model.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        Drawing or Axes
            Without ``ax`` an SVG drawing that notebooks display; ``plot().save("model.svg")`` writes it, or PNG or PDF
            by its name.

        Raises
        ------
        SpecError
            If ``ax`` is nothing that matplotlib draws on.
        """
        if ax is None:
            return svg.Drawing(self.to_svg())
        return axes.draw(self, ax)

    @property
    def is_plain_tree(self) -> bool:
        """Whether it is a tree whose tests read one column each, without pass-throughs."""
        return self.is_tree and not self.forms

    def _repr_html_(self) -> str:
        return self.to_svg()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        kind = "tree" if self.is_tree else "diagram"
        size = f"{count_of(self.n_nodes, 'test')}, {count_of(self.n_leaves, 'leaf')}, depth {self.depth}"
        return f"<DecisionGraph: {kind}, {size}>"
