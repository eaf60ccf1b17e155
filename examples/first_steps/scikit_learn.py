"""
In scikit-learn
===============

The estimators work in pipelines and cross-validation. Numeric columns need no scaling and no binning:
thresholds are found among all the values, and every fit says whether it is proved to be the best.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import treeform as tf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]

# %%
# Best of its depth
# -----------------

clf = tf.OptimalTreeClassifier(max_depth=2, time_limit=20).fit(X, y)
print(clf.result_)
print(clf.graph_.to_text())

greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
print(
    f"errors on the training data: optimal {(clf.predict(X) != y).sum()}, greedy {(greedy.predict(X) != y).sum()}"
)

# %%
# Cross-validation
# ----------------
# Optimal on the training data is not optimal on new data: requirements such as a minimum support per leaf
# are what keeps a model from following noise.

for support in (1, 0.05):
    model = tf.OptimalTreeClassifier(max_depth=2, requirements=[tf.MinSupport(support)], time_limit=20)
    scores = cross_val_score(model, X, y, cv=3)
    print(f"min_support {support}: accuracy {scores.mean():.3f} in 3-fold cross-validation")
