"""The data set that everything else reads: exact numbers, codes, whole weights, and their provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeform.data.columns import Column
from treeform.data.encode import Encoder, constant_notes, counting_notes, reading_notes, spelling_notes
from treeform.data.exact import AUTO
from treeform.data.labels import codes_among, encode_labels, many_classes_note, single_class, with_abstention
from treeform.data.quantity import Quantity, read_quantity
from treeform.data.roles import USUAL, TableOptions, excluded_columns, separate
from treeform.data.summary import summarise
from treeform.data.table import Table
from treeform.data.views import (
    LARGEST_SPLIT_TABLE,
    Points,
    Ranks,
    Splits,
    count_tests,
    merge_points,
    rank_values,
    separating_splits,
    unit_interval,
)
from treeform.data.weights import Rounding, read_weights, rows_that_count
from treeform.errors import DataError, no_column
from treeform.utils.arrays import Floats, Ints, row_numbers
from treeform.utils.text import count_of


@dataclass(frozen=True, eq=False)
class Dataset:
    """An encoded table with labels and weights. Immutable; made by `Dataset.from_user`.

    Attributes
    ----------
    X : (n, F) float64
        Encoded features, finite, C-contiguous, without -0.0.
    y : (n,) int64
        Class codes, positions in `classes`.
    classes : (K,) array
        The original labels.
    weights : (n,) int64
        Positive; the user's weight of a row is ``weights[i] * weight_unit``, exactly.
    weight_unit : Fraction
        Value of one unit of weight.
    encoder : Encoder
        Turns further tables into features.
    frame : DataFrame or None
        The user's table (without the target), all rows; None when X was an array of numbers.
    kept_rows : (n,) int64
        Positions of the rows in the user's table; rows of weight zero are left out.
    exclude : tuple of str
        Columns that are not features.
    target : str or None
        Name of the label column, where it is known.
    notes : tuple of str
        How particular inputs were treated.
    options : TableOptions
        The user's choices about columns.
    quantity : Quantity or None
        The target where it is a quantity to be regressed. Then there is one class, which all rows belong to.
    rounding : Rounding or None
        What became of the weights where they were rounded.
    """

    X: Floats
    y: Ints
    classes: NDArray[Any]
    weights: Ints
    weight_unit: Fraction
    encoder: Encoder
    table: Table
    kept_rows: Ints
    exclude: tuple[str, ...] = ()
    target: str | None = None
    notes: tuple[str, ...] = ()
    options: TableOptions = USUAL
    quantity: Quantity | None = None
    rounding: Rounding | None = None

    def __post_init__(self) -> None:
        for array in (self.X, self.y, self.classes, self.weights, self.kept_rows):
            array.setflags(write=False)

    @classmethod
    def from_user(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        feature_names: Any = None,
        row_labels: pd.Index | None = None,
        exclude: Iterable[str] = (),
        options: TableOptions = USUAL,
        allow_single_class: bool = False,
        allow_quantities: bool = False,
    ) -> Dataset:
        """Read and check a table, its labels and its weights.

        Parameters
        ----------
        X : DataFrame or array of shape (n, columns)
            Numeric, boolean, text, categorical or date columns; see `treeform.data.sources`.
        y : Series, array or list of length n, or str
            Any hashable labels; or the name of a column of the DataFrame, which is then no feature. Where table and
            target have labels of rows (a pandas index), rows are paired by these, and else by position.
        sample_weight : array of shape (n,), optional
            Non-negative; rows of weight 0 are left out. Paired with the rows as `y` is.
        feature_names : sequence of str, optional
            Names of the columns; those of the DataFrame, or x0, x1, ... by default.
        row_labels : Index, optional
            Labels of the rows; those of the DataFrame by default.
        exclude : sequence of str
            Columns to keep for requirements (groups) but not to learn from.
        options : TableOptions
            The user's choices about columns.
        allow_single_class : bool, default False
            Accept labels that are all the same.
        allow_quantities : bool, default False
            Accept labels that look like a quantity to be regressed; `as_quantity` reads them as one.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If the table, the labels or the weights cannot be used as they are.
        """
        rows = separate(X, y, sample_weight, feature_names, row_labels)
        table, target = rows.table, rows.target
        exclude = excluded_columns(table, exclude)
        options.check(table.names)
        weighing = read_weights(rows.sample_weight, table.n_rows, options.weight_grid)
        weights = weighing.units
        if weighing.rounding is None and options.weight_grid is not None:  # they are the same without a grid
            options = replace(options, weight_grid=None)
        codes, classes = encode_labels(rows.y, table.n_rows, allow_quantities=allow_quantities)
        notes = [*rows.notes, *weighing.notes]
        kept = rows_that_count(weights)
        source = table
        if len(kept) < len(weights):
            source = table.rows(kept)
            notes.append(f"left out: {count_of(len(weights) - len(kept), 'row')} of weight 0")
            codes, weights = codes[kept], weights[kept]
            present, codes = np.unique(codes, return_inverse=True)
            codes, classes = codes.reshape(-1).astype(np.int64), classes[present]
        if len(classes) < 2 and not allow_single_class:
            raise single_class(classes[0], target)
        if options.abstain is not None:
            classes = with_abstention(classes, options.abstain)
        encoder = Encoder.fit(source, exclude, kept, options)
        encoded = encoder.encode(source, kept)
        notes += [*many_classes_note(classes), *reading_notes(encoder), *spelling_notes(encoder)]
        notes += [*constant_notes(encoded, encoder.columns), *counting_notes(encoded, encoder.columns)]
        if table.frame is not None:  # the user may go on to change the table
            table = replace(table, frame=table.frame.copy())
        return cls(
            encoded, codes, classes, weights, weighing.unit, encoder, table, kept, exclude, target, tuple(notes),
            options, rounding=weighing.rounding and weighing.rounding.of(kept),
        )  # fmt: skip

    @classmethod
    def for_model(
        cls, encoder: Encoder, classes: NDArray[Any] | None, X: Any, y: Any, sample_weight: Any = None
    ) -> Dataset:
        """Read rows in the terms of a model: encoded as its training table was, with its classes.

        Parameters
        ----------
        encoder : Encoder
            That of the model.
        classes : (K,) array or None
            The labels that the model predicts; None where it predicts values, and the target is a quantity.
        X, y, sample_weight
            As in `from_user`; `X` may have levels that were not there in training, and lack others.

        Raises
        ------
        DataError
            If the table, the labels or the weights cannot be used, columns are missing, or a label is none
            of the classes.
        """
        rows = separate(X, y, sample_weight)
        table, target = rows.table, rows.target
        weighing = read_weights(rows.sample_weight, table.n_rows, AUTO)
        weights = weighing.units
        if classes is None:
            codes, own = encode_labels(rows.y, table.n_rows, allow_quantities=True)
        else:
            codes, own = codes_among(rows.y, table.n_rows, classes), np.array(classes)
        kept = rows_that_count(weights)
        notes = [*rows.notes, *weighing.notes]
        if len(kept) < len(weights):
            notes.append(f"left out: {count_of(len(weights) - len(kept), 'row')} of weight 0")
        encoded = encoder.transform(rows.X)[kept]
        if table.frame is not None:
            table = replace(table, frame=table.frame.copy())
        exclude = tuple(name for name in encoder.ignored if name in table.names)
        data = cls(
            np.ascontiguousarray(encoded), codes[kept], own, weights[kept], weighing.unit, encoder, table, kept,
            exclude, target, tuple(notes),
            rounding=weighing.rounding and weighing.rounding.of(kept),
        )  # fmt: skip
        return data.as_quantity(AUTO) if classes is None else data

    def as_quantity(self, grid: Fraction | str | None = None) -> Dataset:
        """The same rows with their labels read as quantities; see `treeform.data.quantity.read_quantity`.

        Raises
        ------
        DataError
            If a label is no number, or they have too many digits and no grid is given.
        """
        quantity = read_quantity(self.classes, self.y, self.weights, grid)
        of_classes = many_classes_note(self.classes)
        notes = tuple(note for note in (*self.notes, quantity.note) if note and note not in of_classes)
        y = np.zeros(self.y.shape, self.y.dtype)  # takes no memory until it is read, unlike zeros_like
        return replace(self, y=y, classes=np.array(["value"]), quantity=quantity, notes=notes)

    @property
    def frame(self) -> pd.DataFrame | None:
        """The user's table without the target, all rows, or None when X was an array of numbers."""
        return self.table.frame

    @property
    def columns(self) -> tuple[Column, ...]:
        """Meaning of each encoded feature."""
        return self.encoder.columns

    @property
    def n_samples(self) -> int:
        """Number of rows kept."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of encoded features."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def abstain_code(self) -> int | None:
        """The code of the class that stands for no decision, which comes last; None where there is none."""
        return None if self.options.abstain is None else self.n_classes - 1

    def summary(self) -> pd.DataFrame:
        """How each column of the user's table was read.

        Returns
        -------
        DataFrame
            One row for each column: its kind, the number of different values and of missing ones, the lowest and
            the highest, the number of features that it became, and other facts. Rows of weight 0
            are left out.
        """
        return summarise(self.encoder, self.table, self.kept_rows, self.exclude)

    @cached_property
    def total_weight(self) -> int:
        """Sum of the weights, in weight units."""
        if self.n_samples * int(self.weights.max(initial=0)) < 2**63:
            return int(self.weights.sum())
        return int(self.weights.astype(object).sum())

    @cached_property
    def class_weights(self) -> Ints:
        """(K,) int64 weight of each class, in weight units."""
        made = self.weight_by_code(self.y, self.n_classes)
        made.setflags(write=False)
        return made

    def weight_by_code(self, codes: Ints, size: int) -> Ints:
        """Weight of the samples of each code from 0 to ``size - 1``, in weight units: (size,) int64."""
        weights = None if self.total_weight == self.n_samples else self.weights  # sums are below 2**53
        return np.bincount(codes, weights, minlength=size).astype(np.int64, copy=False)

    def column(self, name: str) -> NDArray[Any]:
        """Raw values of one of the user's columns, excluded ones included.

        Returns
        -------
        (n,) array
            Only the rows that were kept.

        Raises
        ------
        DataError
            If there is no such column.
        """
        if str(name) not in self.table.names:
            fix = "name one of these columns, or pass an array with one entry for each row"
            raise no_column(f"there is no column {name!r}", name, self.table.names, fix=fix)
        return np.asarray(self.table.column(str(name)))[self.kept_rows]

    @cached_property
    def columns_with_gaps(self) -> tuple[str, ...]:
        """The user's columns of numbers that have missing values."""
        return tuple(dict.fromkeys(column.source for column in self.columns if column.missing))

    @cached_property
    def points(self) -> Points:
        """Rows with equal feature vectors, merged into weighted points."""
        return merge_points(self.X, self.y, self.weights, self.n_classes)

    @cached_property
    def ranks(self) -> Ranks:
        """Dense ranks of all values, and the thresholds between them."""
        return rank_values(self.X)

    @cached_property
    def are_bits(self) -> bool:
        """Whether all values are 0 or 1; a few rows show mostly that they are not."""
        return all(bool(((rows == 0) | (rows == 1)).all()) for rows in (self.X[:100], self.X))

    @cached_property
    def n_tests(self) -> int:
        """Number of distinct tests, over all features; `splits` lists them. Merged rows have the same values."""
        return count_tests(self.points.X if "points" in vars(self) else self.X)

    def has_more_tests_than(self, most: int) -> bool:
        """Whether `n_tests` exceeds ``most``; many rows are not all looked at where some show it."""
        if count_tests(self.X[: 2 * most], most) > most:
            return True
        return (self.n_tests if "n_tests" in vars(self) else count_tests(self.X, most)) > most

    @cached_property
    def can_list_tests(self) -> bool:
        """Whether `splits` has room for all tests."""
        return not self.has_more_tests_than(LARGEST_SPLIT_TABLE // max(1, self.points.n_points))

    def unit(self) -> Floats:
        """Scale every feature to [0, 1]; (n, F) float64. Thresholds are never taken from this view.

        Raises
        ------
        DataError
            If a column has missing values: they have no place on a scale.
        """
        if self.columns_with_gaps:
            raise DataError(
                "hyperplanes cannot read columns with missing values: "
                + ", ".join(self.columns_with_gaps[:6]),
                cause="a weighted sum needs a number from each column",
                fix="fill in the values, exclude the columns, or use splits='univariate'",
            )
        return unit_interval(self.X)

    def splits(self, dedupe: Literal["feature", "global"] | None = None) -> Splits:
        """List the tests that send at least one point each way.

        Parameters
        ----------
        dedupe : {"feature", "global"} or None
            Keep one of the tests that part the points in the same way (sides may be swapped): among
            the tests of one of the user's columns, among all tests, or keep all of them (None).

        Returns
        -------
        Splits
            Over the merged `points`.
        """
        if dedupe not in (None, "feature", "global"):
            raise DataError(f"dedupe={dedupe!r} is not known", fix="use None, 'feature' or 'global'")
        cache: dict[Any, Splits] = self.__dict__.setdefault("_splits", {})
        if dedupe not in cache:
            cache[dedupe] = separating_splits(self.points, self.columns, dedupe)
        return cache[dedupe]

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) over features, labels as text, weights, column names and excluded columns as text."""
        hashed = hashlib.sha256()
        groups = [[name, *self.column(name).tolist()] for name in self.exclude]
        for part in (self.classes.tolist(), [column.name for column in self.columns], *groups):
            for text in (f"{len(part)}", *map(str, part)):
                raw = text.encode("utf-8", "surrogatepass")
                hashed.update(len(raw).to_bytes(8, "little") + raw)
        hashed.update(f"|{self.X.shape}|{self.weight_unit}|".encode())
        for array, dtype in ((self.X, "<f8"), (self.y, "<i8"), (self.weights, "<i8")):
            hashed.update(np.ascontiguousarray(array, dtype=dtype).tobytes())
        if self.quantity is not None:
            hashed.update(self.quantity.digest.encode())
        if self.rounding is not None:
            hashed.update(self.rounding.digest.encode())
        return hashed.hexdigest()

    def taken(self, order: Ints) -> Dataset:
        """The samples at these positions, in this order; table, features and classes stay."""
        quantity, rounding = self.quantity, self.rounding
        return replace(
            self,
            X=np.ascontiguousarray(self.X[order]),
            y=self.y[order],
            weights=self.weights[order],
            kept_rows=self.kept_rows[order],
            quantity=quantity and replace(quantity, deviations=quantity.deviations[order]),
            rounding=rounding and rounding.of(order),
        )

    def with_own_table(self) -> Dataset:
        """The same samples, with a table that has these rows in this order and no others."""
        return replace(self, table=self.table.rows(self.kept_rows), kept_rows=row_numbers(self.n_samples))

    def relabelled(self, codes: Ints, n_classes: int) -> Dataset:
        """Give the same rows other classes, from 0 to ``n_classes - 1``; used for relaxations.

        Parameters
        ----------
        codes : (n,) int64
            The new class of each row.
        """
        new_codes = np.ascontiguousarray(codes, dtype=np.int64)
        if new_codes.shape != self.y.shape or new_codes.min() < 0 or new_codes.max() >= n_classes:
            raise DataError(
                f"the new classes do not fit {count_of(self.n_samples, 'row')} and {count_of(n_classes, 'class')}",
                fix="pass one code from 0 to n_classes - 1 for each row",
            )
        options = replace(self.options, abstain=None)
        return replace(self, y=new_codes, classes=np.arange(n_classes), options=options)

    def __repr__(self) -> str:
        target = count_of(self.n_classes, "class") if self.quantity is None else "a quantity to be regressed"
        return (
            f"<Dataset {count_of(self.n_samples, 'row')}, {count_of(self.n_features, 'feature')}, {target}>"
        )
