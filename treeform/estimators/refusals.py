"""What scikit-learn's checks refuse, as errors of ours: what happened, why, and what to do.

The first words are scikit-learn's own where its `check_estimator` asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from treeform.errors import CallError, DataError, TreeformError

TABLE = "give a table with one row for each sample and one column for each feature"
TRAINED = "predict with the columns of training, in their order: X[model.feature_names_in_]"
WEIGHTS = "give one weight, of at least 0, for each row"
NUMBERS = "give numbers; columns of text are read as categories in a DataFrame"
FOLDS = "give a number of folds such as cv=5, no more than rows, or a splitter of scikit-learn"
SCORES = (
    "use a name of sklearn.metrics.get_scorer_names(), such as 'accuracy', 'balanced_accuracy' or, for values, 'r2'; "
    "or in Python a function of (estimator, X, y)"
)
LABELS = "give one label or value, of the type of training, for each row"

Refused = tuple[tuple[str, str, str | None, str], ...]
REFUSED: Refused = (
    (r".*requires y to be passed.*", r"\g<0>", "a model is learned from labels or values", "give them: fit(X, y)"),
    (
        r".*inconsistent numbers of samples: \[(\d+), \1, (\d+)\].*",
        r"sample_weight has \2 entries, and the table \1 rows",
        None,
        WEIGHTS,
    ),
    (
        r".*inconsistent numbers of samples: \[(\d+), (\d+)(?:, \d+)?\].*",
        r"table and target have different numbers of rows: \1 and \2",
        "each row has one label or value",
        "give X and y of the same rows",
    ),
    (
        r"y should be a 1d array, got an array of shape (.*) instead.*",
        r"the target is no list of labels or values: its shape is \1",
        "one label or value is learned for each row",
        "give an array or a column, such as y = table['target']",
    ),
    (
        r"Expected 2D array, got (\w+) array instead.*",
        r"Expected 2D array, got \1 array instead",
        None,
        "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row",
    ),
    (
        r"Expected a 2-dimensional container.*",
        "one column or one row is given where a table is read",
        "a Series does not say which of the two it is",
        "give one column as table[['column']], one row as table.iloc[[0]]",
    ),
    (
        r"Support for labels represented as bytes.*",
        "labels are bytes",
        "a label is text or a number",
        "decode them: y.str.decode('utf-8') of a Series",
    ),
    (
        r"at least one array or dtype is required",
        "the table has no columns",
        None,
        "check how the table was read, and which columns were left out",
    ),
    (r"Found array with .*", r"\g<0>", None, TABLE),
    (
        r"Input X contains NaN.*",
        "Input X contains NaN",
        "missing values are not allowed: missing='error'",
        "drop these rows, or fill in the values; or use missing='value'",
    ),
    (
        r"(Input X contains inf\w+).*",
        r"\1",
        None,
        "drop these rows; or give a number that is larger than all others, or a missing value",
    ),
    (
        r"could not convert string to float: (.*)",
        r"{of} has text in it: \1",
        "an array has one type for all of its columns",
        NUMBERS,
    ),
    (r".*argument must be a string or a .*number.*", r"\g<0>", "an entry is neither number nor text", NUMBERS),
    (r"Complex data not supported.*", "Complex data not supported", None, "give the two parts as two columns"),
    (
        r"(Feature names are only supported.*?)\. .*",
        r"\1",
        None,
        "make all names text: X.columns = X.columns.astype(str)",
    ),
    (r".*inhomogeneous shape.*", "the rows of the table have different numbers of entries", None, TABLE),
    (r"X has \d+ features, but .*", r"\g<0>", None, TRAINED),
    (r"The feature names should match.*", r"\g<0>", None, TRAINED),
    (
        r"sample_weight\.shape == \((\d+),\), expected \((\d+),\).*",
        r"sample_weight has \1 entries, and the table \2 rows",
        None,
        WEIGHTS,
    ),
    (r".*(?i:sample.weight).*", r"\g<0>", None, WEIGHTS),
    (r".*(number of splits|n_splits|Expected `cv`).*", r"\g<0>", None, FOLDS),
    (r"The 'scoring' parameter .* Got (.*) instead.*", r"scoring=\1 is not known", None, SCORES),
    (r"Input (y_true )?contains (NaN|inf\w+).*", r"the target contains \2", None, "drop these rows"),
    (r"The 'y_true' parameter .* Got (.*) instead.*", r"the target is \1", None, LABELS),
    (r"(Mix of label input types.*?);.*", r"\1", None, LABELS),
)
"""Pattern of scikit-learn's text, what happened, why, and what to do."""
OF_SCORES: Refused = (
    (
        r".*unexpected keyword argument 'sample_weight'.*",
        "the score takes no sample_weight, and the rows have weights",
        None,
        "let its function be of (estimator, X, y, sample_weight=None)",
    ),
    (
        r"(Target is multiclass but average='binary'|multi_class must be in).*",
        "the score is one of two classes, and there are more",
        None,
        "use for example scoring='balanced_accuracy', 'f1_macro' or 'roc_auc_ovr'",
    ),
    (
        r"(pos_label=.* is not a valid label).*",
        r"\1",
        "the score is that of one class",
        "use scoring='f1_macro', or name the class: scoring=make_scorer(f1_score, pos_label='yes')",
    ),
    (
        r"y_true contains only one label.*",
        "the score needs rows of each class, and a fold has rows of only one",
        None,
        "use stratified folds, such as cv=5, or another score",
    ),
)
"""The same of scores."""


@contextmanager
def in_our_words(of: str = "the table", refused: Refused = REFUSED) -> Iterator[None]:
    """Within the block, what scikit-learn refuses is a `DataError`, or a `CallError` where it raises TypeError.

    ``of`` is what is read, where the text does not say it.
    """
    try:
        yield
    except TreeformError:
        raise
    except (TypeError, ValueError) as error:
        refusal = _refusal(error, of, refused)
        if refusal is None:
            raise
        raise refusal from error


def _refusal(error: Exception, of: str, refused: Refused) -> TreeformError | None:
    kind = CallError if isinstance(error, TypeError) else DataError
    for pattern, what, cause, fix in refused:
        found = re.fullmatch(pattern, str(error), flags=re.DOTALL)
        if found:
            text = found.expand(what).rstrip().rstrip(".!").replace("{of}", of)
            return kind(text, cause=cause, fix=fix)
    return None
