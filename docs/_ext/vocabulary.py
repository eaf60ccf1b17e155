"""The parameters of the public interface: one name for one meaning, wherever it stands.

``tests/project/test_vocabulary.py`` refuses a parameter that is not here; the page *Parameters* shows the table.
"""

from __future__ import annotations

VOCABULARY: dict[str, dict[str, str]] = {
    "The problem": {
        "X": "table or array of features, one row for each sample",
        "y": "labels or values to learn, or the name of the target's column",
        "shape": "`Tree`, `Diagram`, or its text: ``tree:3``",
        "depth, max_depth": "most tests on a path; of estimators with scikit-learn's name",
        "widths": "most nodes in each layer of a diagram, root first",
        "splits": "``univariate``: a test reads one column; ``multivariate``: a weighted sum of columns",
        "sample_weight": "one weight for each row",
        "weight_grid": "what weights are rounded to multiples of",
        "exclude": "columns that no test reads; requirements may",
        "categorical_features": "columns whose values are levels (``--categorical``)",
        "missing, dates, abstain": "how missing values, dates and leaves without a decision are treated",
        "sensitive_features": "groups that are given as an array beside the table",
    },
    "Requirements": {
        "at_most": "upper bound: a count, a share or a cost",
        "at_least": "lower bound: a count or a share",
        "count, fraction": "the bound, with its kind: ``MinSupport(fraction=1)`` is all rows, ``MinSupport(1)`` one",
        "ratio, difference": "least quotient, or largest difference, of the rates of two groups",
        "groups, given": "column, columns or array whose values are compared; strata within which they are",
        "positive": "the class that is compared or counted; with two classes the greater label, by default",
        "column": "one column, by name",
        "columns, sets": "several columns; several sets of columns",
        "above": "the column that is tested first",
        "rows": "rows of the table",
        "direction": "``increasing`` or ``decreasing``",
        "graph": "a model, or its file",
        "cost, costs, matrix": "by true and predicted class; by column; by true and predicted class",
        "per_path": "whether the bound is for each decision, not for the model",
        "whole": "whether values are whole numbers",
        "requirement, requirements": "one requirement; several",
    },
    "Objectives": {
        "objective": "a term, a sum of terms with prices, or its text",
        "price, prices": "what one unit of a term costs in the objective",
        "weights": "of the groups",
        "loss": "``squared_error`` or ``absolute_error``",
        "grid": "what targets are rounded to multiples of; of a study: its settings",
    },
    "Solving": {
        "solver": "solver or native engine, or its name",
        "formulation": "how the problem is stated to a solver, or its name",
        "warm_start": "where the search starts: ``auto``, an engine, a model, or None",
        "time_limit": "seconds for the whole call",
        "memory_limit": "bytes for a native engine, megabytes for the process of a solver",
        "work_limit": "units of work, so that a search ends at the same point on every machine",
        "threads": "threads within one process",
        "workers": "processes or machines that share the work",
        "n_jobs": "scikit-learn's name: folds that run side by side",
        "executor, journal, isolate": "who shares the work; the folder that keeps it; a process of its own",
        "seed, seeds": "of random choices",
        "options, members": "of the solver's package; of a portfolio",
        "on_progress, verbose": "called at each step; what is printed",
        "proofs": "folder of proofs that a SAT solver writes",
    },
    "Questions": {
        "over, between": "the requirement whose bound is moved, and from where to where",
        "bound": "a value of that bound",
        "within, max_models": "how much worse a model may be; how many are listed",
        "alpha, alphas, start, free_root": "of size tables: prices as shares, a table to go on from, a free root",
        "model": "a model that is judged",
        "certificate, independent, confirm, drat_trim": "of `check`: what is checked, and by whom",
        "subject, cv, folder": "of `sweep`: what is solved, on which folds, and where results are kept",
    },
    "Estimators": {
        "ccp_alpha, ccp_alphas": "scikit-learn's name: price of a test as a share of the total weight",
        "class_weight, min_weight_fraction_leaf, monotonic_cst, scoring": "as in scikit-learn",
        "select": "``close``, ``best`` or ``one_standard_error``",
        "unseen": "what is done with levels that training did not have",
        "decision": "``label`` or ``argmax``: how a leaf decides",
        "keep_data": "whether the fitted estimator keeps the training rows",
    },
    "Models": {
        "path, ax, data": "file to write; axes of matplotlib to draw on; data that a model is simplified on",
        "table, column, dialect, keep": "of SQL: names of the table and the prediction, dialect, columns to keep",
        "nodes": "of ONNX: ``auto``, ``tree`` or ``shared``",
    },
    "Native engines": {
        "binarize, order, exact_depth": "of `DL85`, `CADL85`, `Blossom`",
        "rule, relaxation, step": "of `CADL85`",
        "ahead, fewest_tests, improve, max_gap": "of `ConTree`",
        "pairs, parts": "parts of a search in use",
        "simd": "instruction set; ``auto`` takes the widest of the machine",
    },
}
"""Subject, names, meaning. Names of one row stand for one idea and are separated by commas."""


def names() -> set[str]:
    """Every name of the table."""
    return {name.strip() for rows in VOCABULARY.values() for row in rows for name in row.split(",")}
