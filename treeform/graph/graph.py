"""Decision trees and decision diagrams as flat arrays, and prediction with them.

Text, drawings, JSON and rewrites read these arrays; `treeform.graph.decision` joins all to the public class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from treeform.data.columns import Column
from treeform.data.dataset import Dataset
from treeform.data.unseen import Unseen
from treeform.errors import DataError, SpecError
from treeform.graph import from_sklearn, routing, structure, values
from treeform.graph.encoded import encoded_matrix, with_nan
from treeform.graph.forms import LinearForm, extended, fault, fault_of_passes, passing, renumbered, taken_out
from treeform.graph.gaps import accepting, checked_policy
from treeform.graph.nodetest import NodeTest, node_tests
from treeform.utils.arguments import clear_call
from treeform.utils.arrays import Bools, Floats
from treeform.utils.text import count_of

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class FlatGraph(routing.Nodes):
    """The arrays of a `DecisionGraph`, where they are described, checked; and prediction with them."""

    values: tuple[Fraction, ...] = ()
    moments: Floats = field(default_factory=lambda: np.empty((0, 2)))

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("feature", "left", "right", "label"):
            put(self, name, np.array(getattr(self, name), dtype=np.int32))
        put(self, "threshold", np.array(self.threshold, dtype=np.float64) + 0.0)
        if self.forms:
            feature, forms = renumbered(self.feature, self.forms, len(self.columns))
            put(self, "feature", feature)
            put(self, "forms", forms)
        if self.values:
            held, label = values.in_order(self.values, self.label)
            put(self, "values", held)
            put(self, "label", label)
        if self.moments.size == 0:
            put(self, "moments", np.full((len(self.feature), 2), np.nan))
        if self.counts.size == 0:
            put(self, "counts", np.zeros((len(self.feature), len(self.classes)), dtype=np.int64))
        wrong = self._fault()
        if wrong is not None:
            raise SpecError(
                "the node arrays are no decision graph", cause=wrong, fix="see DecisionGraph.build"
            )
        for array in (*self._arrays, self.counts, self.moments):
            array.setflags(write=False)

    @property
    def _arrays(self) -> tuple[Ints, Floats, Ints, Ints, Ints]:
        return self.feature, self.threshold, self.left, self.right, self.label

    def _fault(self) -> str | None:
        """The first thing that is wrong, or None."""
        n_features, outcomes = len(self.columns) + len(self.forms), len(self.values or self.classes)
        wrong = structure.fault(*self._arrays, n_features=n_features, n_classes=outcomes)
        if wrong is None and self.forms:
            passes = (self.passes, self.threshold, self.left, self.right)
            wrong = fault(self.forms, len(self.columns)) or fault_of_passes(*passes)
        if wrong is None and self.counts.shape != (len(self.feature), len(self.classes)):
            wrong = f"counts has shape {self.counts.shape}"
        if wrong is None and self.moments.shape != (len(self.feature), 2):
            wrong = f"moments has shape {self.moments.shape}"
        return wrong

    # ---------------------------------------------------------------- making

    @classmethod
    def build(cls, nodes: Any, data: Dataset, values: tuple[Fraction, ...] = ()) -> Self:
        """Make a graph from described nodes, with the columns, classes and counts of `data`.

        Raises SpecError if the nodes are malformed or form a cycle.

        Parameters
        ----------
        nodes : sequence or mapping of dicts
            Each node is ``{"feature", "threshold", "left", "right"}`` (encoded feature, children), the same
            with ``"weights": {feature: weight}`` in place of the feature for a multivariate test,
            ``{"pass"}`` (the one child of a pass-through), or ``{"label"}`` (class code, or position in ``values``, the
            predictions in place of classes). In a sequence, children are positions and node 0 is the root; in a
            mapping, they are keys and the first one is the root. Any order; a node may be shared.
        """
        plain, forms = taken_out(nodes, data.n_features)
        return cls._with_meaning(
            {**structure.arrays_from_nodes(plain), "forms": forms, "values": values}, data
        )

    @classmethod
    def from_nested(cls, nested: Any, data: Dataset) -> Self:
        """Make a tree from ``(feature, threshold, left, right)``, class codes at the leaves; features also by name."""
        return cls._with_meaning(structure.arrays_from_nested(nested, data), data)

    @classmethod
    def from_arrays(
        cls,
        feature: Any,
        threshold: Any,
        left: Any,
        right: Any,
        label: Any,
        data: Dataset,
        forms: tuple[LinearForm, ...] = (),
        values: tuple[Fraction, ...] = (),
    ) -> Self:
        """Make a graph from flat arrays (see the attributes), with the meaning and counts of `data`."""
        arrays = {"feature": feature, "threshold": threshold, "left": left, "right": right, "label": label}
        return cls._with_meaning({**arrays, "forms": forms, "values": values}, data)

    @classmethod
    @clear_call
    def from_sklearn(cls, tree: Any, data: Dataset) -> Self:
        """Make a graph that decides all rows of doubles as a tree of scikit-learn; for `judge`, or as ``warm_start``.

        Raises SpecError if it is no fitted tree, or one of other columns or classes.
        """
        structure.refuse_no_data(data)
        return cls._with_meaning(from_sklearn.arrays_of(tree, data), data)

    @classmethod
    def leaf(cls, label: int, data: Dataset) -> Self:
        """Make the constant model that predicts class code `label`."""
        return cls.build([{"label": structure.class_code(label)}], data)

    @classmethod
    def constant(cls, value: Fraction | int, data: Dataset) -> Self:
        """Make the constant model that predicts a value; `data` has a quantity as its target."""
        none = np.full(1, -1)
        return cls.from_arrays(none, [np.nan], none, none, [0], data, values=(Fraction(value),))

    @classmethod
    def _with_meaning(cls, arrays: Mapping[str, Any], data: Dataset) -> Self:
        structure.refuse_no_data(data)
        graph = cls(**arrays, columns=data.columns, classes=data.classes, encoder=data.encoder)
        return graph._count(data)

    def with_counts(self, data: Dataset) -> Self:
        """Count again which classes of `data` reach each node, by weight in the user's units."""
        if routing.Routed.of(self, data).counted:
            return self
        copy = object.__new__(type(self))  # its arrays were checked
        vars(copy).update(self._fields())
        return copy._count(data)

    def _count(self, data: Dataset) -> Self:
        """Put the counts in, before the graph is given away."""
        self._check_fits(data)
        counts: NDArray[Any] = routing.counts(self, data)
        whole = data.weight_unit.denominator == 1 and data.total_weight * data.weight_unit < 2**62
        self._put("counts", counts * (int(data.weight_unit) if whole else float(data.weight_unit)))
        if data.quantity is not None:
            self._put("moments", values.moments(self, data, data.quantity))
        elif not np.isnan(self.moments).all():
            self._put("moments", np.full((len(self.feature), 2), np.nan))
        routing.Routed.of(self, data).counted = True
        return self

    def _put(self, name: str, array: NDArray[Any]) -> None:
        array.setflags(write=False)
        vars(self)[name] = array

    def __getstate__(self) -> dict[str, Any]:
        return self._fields()  # what is computed from them is computed again

    def _fields(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def with_labels(self, labels: Mapping[int, int]) -> Self:
        """Give some leaves other class codes: ``{leaf: code}``."""
        label = self.label.copy()
        for node, code in labels.items():
            label[node] = code
        return replace(self, label=label)

    def reclassified(self, data: Dataset) -> Self:
        """Read the class codes as those of `data`, and count again; for models of relabelled data."""
        counts = np.zeros((len(self.feature), data.n_classes), dtype=np.int64)
        return replace(self, classes=data.classes, counts=counts).with_counts(data)

    # ---------------------------------------------------------------- measures

    @property
    def is_regression(self) -> bool:
        """Whether leaves predict values, and not classes."""
        return bool(self.values)

    @property
    def outcomes(self) -> NDArray[Any]:
        """What `label` counts: the classes, or the exact values as an array of `Fraction`."""
        if not self.values:
            return self.classes
        return np.fromiter(self.values, dtype=object, count=len(self.values))

    @cached_property
    def leaf_values(self) -> Floats:
        """(N,) float64, the nearest one to the value of each leaf; NaN at tests, and where leaves predict classes."""
        out = np.full(len(self.feature), np.nan)
        if self.values:
            leaves = self.feature < 0
            out[leaves] = np.array([float(value) for value in self.values])[self.label[leaves]]
        return out

    @cached_property
    def passes(self) -> Bools:
        """(N,) bool: which nodes are pass-throughs. They are tests (``feature >= 0``) and read no column."""
        return passing(self.feature, self.forms, len(self.columns))

    @cached_property
    def _tests(self) -> tuple[NodeTest, ...]:
        return node_tests(self.feature, self.threshold, self.forms, len(self.columns))

    def tests(self) -> tuple[NodeTest, ...]:
        """The tests in the order of the nodes, each with the column or the linear form that it reads.

        Read this, and not `feature`, to find out which columns a model uses: `feature` alone does not name the
        columns of multivariate tests.
        """
        return self._tests

    @cached_property
    def is_univariate(self) -> bool:
        """Whether no test reads a weighted sum of columns; pass-throughs read nothing."""
        return not any(form.features for form in self.forms)

    @cached_property
    def n_nodes(self) -> int:
        """Number of tests, ``|V_I|`` in the papers; pass-throughs are tests."""
        return int((self.feature >= 0).sum())

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves (terminals)."""
        return len(self.feature) - self.n_nodes

    @cached_property
    def depth(self) -> int:
        """Largest number of tests on a path from the root."""
        return int(structure.levels(self.feature, self.left, self.right).max())

    @cached_property
    def is_tree(self) -> bool:
        """Whether no node is shared: each has one arc into it, except the root. A pass-through has one arc."""
        if self.is_level_by_level:
            return True
        tests = self.feature >= 0
        arcs = np.concatenate([self.left[tests], self.right[tests & ~self.passes]])
        return bool((np.bincount(arcs, minlength=1) <= 1).all()) if len(arcs) else True

    @cached_property
    def is_level_by_level(self) -> bool:
        """Whether it is a tree whose levels follow each other in the arrays, each from left to right."""
        return structure.level_by_level(self.feature, self.left, self.right)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def features_used(self) -> set[int]:
        """Encoded features that some test reads."""
        return {column for test in self.tests() for column in test.columns}

    @cached_property
    def tested_columns(self) -> tuple[Column, ...]:
        """What tests read, for texts: the columns, and the linear forms after them."""
        return (*self.columns, *(form.column(self.columns) for form in self.forms))

    def tested(self, X: Floats) -> Floats:
        """The encoded matrix (m, F) with the values of the linear forms after its columns.

        They compare with the thresholds of this graph as their exact sums do; see `treeform.graph.forms`.
        """
        return extended(self.forms, self.feature, self.threshold, len(self.columns), X)

    def values_read(self, X: Floats, feature: int) -> Floats:
        """One of the columns of `tested`, without the others: (m,)."""
        form = feature - len(self.columns)
        if form < 0:
            return X[:, feature]
        return self.forms[form].values(X, self.threshold[self.feature == feature])

    # ---------------------------------------------------------------- predicting

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Leaf that each row reaches.

        Raises DataError if columns are missing, or a value is missing where training had none, or no number.

        Parameters
        ----------
        X : DataFrame or array (m, F)
            A table as `predict` takes it, or the encoded matrix as an array.

        Returns
        -------
        (m,) int64
        """
        known = routing.Routed.leaf_known(self, X)
        return routing.leaf_of_row(self, self._matrix(X)) if known is None else known

    def route(self, X: Any) -> Bools:
        """Nodes that each row of a table or of the encoded matrix visits: (m, N) bool."""
        return routing.visits(self, self._matrix(X))

    def goes_left(self, X: Any) -> Bools:
        """Whether each row of the encoded matrix would go left at each node: (m, N) bool.

        False at leaves; True at pass-throughs, whose one arc is both of them in the arrays.
        """
        return routing.goes_left(self, self._matrix(X))

    def predict_codes(self, X: Any) -> NDArray[np.int64]:
        """Class code of each row of a table or of the encoded matrix: (m,) int64."""
        return self.label[self.apply(X)].astype(np.int64)

    def accept_missing(self) -> Self:
        """The same model, that also decides rows without a value in columns of which training had all values.

        Every test sends them to the child that more training weight reaches, as scikit-learn's trees do; to the left
        one where both weigh the same. Rules, files and exports of the new model say so: "age <= 37.5 or missing".
        Columns that hyperplanes read go on to need a value.

        Raises SpecError if the model knows neither the columns of tables nor the training weight at its nodes.
        """
        return replace(self, **accepting(self))

    @cached_property
    def accepting(self) -> Self:
        """What `accept_missing` returns, made once."""
        return self.accept_missing()

    def predict(self, X: Any, unseen: str | Unseen = "warn", missing: str = "error") -> NDArray[Any]:
        """Class label of each row of a user's table; its value as float64 where leaves hold values.

        Raises DataError if columns are missing, a value is infinite, or one is missing in a column that had no missing
        value in training.

        Parameters
        ----------
        X : DataFrame or array
            As in fit: a DataFrame is read by column name, and may have other columns, too. Without an encoder, the
            encoded matrix.
        unseen : {"error", "warn", "other"}, default "warn"
            What to do about levels that were not there in training: refuse them, warn with their counts, or nothing.
            They are none of the levels known: a test "job = skilled" is answered with no; in an ordered column they
            stand below all levels.
        missing : {"error", "majority"}, default "error"
            What to do about values that are missing in columns that had none missing in training: refuse them, or send
            them at each test to the child of more training weight; see `accept_missing`.

        Returns
        -------
        (m,) array of labels, or of float64
        """
        if checked_policy(missing) == "majority":
            return self.accepting.predict(X, unseen)
        matrix = self.encode(X, unseen)
        if self.values:
            return np.asarray(self.leaf_values[self.apply(matrix)])
        return np.asarray(self.classes[self.predict_codes(matrix)])

    def predict_proba(self, X: Any, unseen: str | Unseen = "warn", missing: str = "error") -> Floats:
        """Shares of the training weight per class at the leaf reached: (m, K), columns as `classes`.

        A leaf that no training weight reaches gives its label the share 1.

        Raises SpecError if the leaves hold values.
        """
        if self.values:
            raise SpecError(
                "a regression model has no shares of classes",
                cause="its leaves predict values",
                fix="use predict; graph.moments has mean and standard deviation at each node",
            )
        if checked_policy(missing) == "majority":
            return self.accepting.predict_proba(X, unseen)
        return np.asarray(self.shares[self.apply(self.encode(X, unseen))])

    @cached_property
    def shares(self) -> Floats:
        """(N, K) shares of the training weight per class at each node; the label's is 1 where no weight arrives."""
        total = self.counts.sum(axis=1, keepdims=True)
        certain = np.eye(self.n_classes)[np.maximum(self.label, 0)]
        return np.asarray(np.divide(self.counts, total, out=certain, where=total > 0))

    def encode(self, X: Any, unseen: str | Unseen = "warn", *, nan: bool = False) -> Floats:
        """Turn a user's table into the encoded matrix that `apply` takes; `unseen` as in `predict`.

        With ``nan``, missing values are NaN, as a tree of `to_sklearn` reads them, and not numbers beyond all others.
        """
        policy = Unseen.of(unseen)
        encoded = self._matrix(X) if self.encoder is None else self.encoder.transform(X, policy)
        return with_nan(self.columns, encoded) if nan else encoded

    def _matrix(self, X: Any) -> Floats:
        return encoded_matrix(self.encoder, self.columns, X)

    def _check_fits(self, data: Dataset) -> None:
        if bool(self.values) != (data.quantity is not None):
            raise DataError(
                "the model predicts values, the data have classes"
                if self.values
                else "the model predicts classes, the data have a quantity as their target",
                fix="use the data that the model was made for",
            )
        if len(self.columns) != data.n_features or len(self.classes) != data.n_classes:
            raise DataError(
                f"the model has {count_of(len(self.columns), 'feature')} and {count_of(len(self.classes), 'class')}, "
                f"the data {data.n_features} and {data.n_classes}",
                fix="use the data that the model was made for, encoded in the same way",
            )
