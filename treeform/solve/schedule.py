"""Shares of a run's time, each with its reason: they affect no answers, only how long each step may run."""

from __future__ import annotations

from treeform.utils.budget import Share

LEAST_DEPTH = 4
"""Of trees that are seldom proved soon, so that another search has a part of the time."""

# -- one solve --------------------------------------------------------------------------------------

FIRST_MODELS = Share(0.1, unlimited=5.0)
"""The formulation's own starting models: they have no bound, and the heuristics of the solver follow."""

WARM_START = Share(0.3, unlimited=60.0)
"""A native engine before the solver: its bound and models often complete the run; if not, the solver needs the rest."""

ENGINE_ALONE = Share(0.49, unlimited=60.0)
"""The same engine where no solver takes the table: the rest is for better models by its neighbourhoods."""

WITHOUT_VALUES = Share(0.4)
"""Regression without what is required of values: its trees get other values then, and its bound is the weakest one."""

PROOF_OF_FEW_TESTS = Share(0.6, least=0.6)
"""A search that proves, on a table of few tests, before trees of depth four and more are searched for in the rest of a
limited run: up to depth six it ends within seconds on many tables. ConTree shares its time with that search by work
(``treeform/native/contree``). Each part of an objective has as much: a proof that was stopped begins again."""

PROOF_AFTER_LESS_DEPTH = Share(0.4, least=0.4)
"""The same after `LESS_DEPTH`: both together have half of the time."""

PROOF_OF_DEPTH_FOUR = Share(0.45, least=0.5)
"""The same on a table of many tests at depth four: its proof comes early or not at all."""

PROOF_OF_DEEPER_TREES = Share(0.15, least=0.1)
"""The same from depth five on, where few tables are proved; it searches smaller depths first."""

TREES_WITHOUT_ROWS = Share(0.15, most=60.0, unlimited=60.0)
"""Trees from depth five on without the requirements that a search for totals has, after it: it has no bound there
before its end, and theirs holds."""

LESS_DEPTH = Share(0.15, most=10.0, unlimited=10.0)
"""Trees of less depth where leaves need many rows or are few, from depth five on: most splits of the last levels are no
help there, and the search begins with a good tree."""

LESS_DEPTH_OF_ALL_LEAVES = Share(0.75, most=10.0, unlimited=10.0)
"""The same on a table of few tests from depth six on, with room for all leaves: a greater depth hardly helps."""

FIRST_DEEP_TREES = Share(0.1, most=10.0, unlimited=10.0)
"""Deep trees at several prices of what is required, before that proof: its bound cannot do without a model."""

FIRST_SHALLOW_TREES = Share(0.36, most=10.0, unlimited=10.0)
"""The same at depth two and three, on tables so large that the proof has no model but a stump for seconds."""

PRICES_OF_DEEP_TREES = Share(0.36, most=10.0, unlimited=10.0)
"""The prices that this part was too short for, before longer searches: without them few trees are admissible."""

RELABELLED = Share(0.05, most=5.0, unlimited=5.0)
"""Lists of other labels for one of many trees: where tests are at fault, hardly any help."""

FAULTS = Share(0.1, most=5.0, unlimited=5.0)
"""What of a deep tree violates a requirement over tests: most trees need some tens of judgements, which may give the
only model."""

DEEP_TREES_FOR_SOLVER = Share(0.4, most=60.0, unlimited=60.0)
"""The same before a solver, under requirements that no engine supports: where a table is not small, the solver's own
trees of depth four and more seldom come near."""

DEEP_TREES_ALONE = Share(0.49, unlimited=60.0)
"""The same where no solver takes the table: only the engine's neighbourhoods and smaller trees follow."""

DEEP_TREES_AMONG_MANY_TESTS = Share(0.8)
"""The same from depth five on, on a table of many tests: what follows seldom proves anything, and has worse trees."""

PAID_FOR = Share(0.49)
"""Deep trees that lack nothing of what they may pay for, and others without that, before a solver: engines search for
them with all that they know, and know less of what is paid for."""

NEARLY_PROVED = Share(1.0)
"""The parts where the bound without what is paid shows that no model is much better: what is left is the proof."""

FIRST_PARTS = Share(0.1)
"""Each part of an objective before that, for as long as parts are answered in it: the others are about as hard."""

FIRST_DEEP_PARTS = Share(0.04)
"""The same from depth five on, on a table of many tests, where few are answered."""

FIRST_DIRECTION = Share(0.1)
"""Deep trees of a ratio or of a loss of two counts at costs that follow from no model of use."""

DIRECTION = Share(0.49)
"""The same at the costs that follow from the best model known."""

TRIAL = Share(0.08, unlimited=1.0)
"""Of that, what shows which of the two has the better trees."""

UNPAID = Share(0.49)
"""Of what the first part leaves of the parts of a limited run, for trees that lack what they like."""

LOW_SUBTREE = Share(0.05, least=0.1, unlimited=5.0)
"""One small subtree of a deep tree: most take some milliseconds, and one that does not must not stop the others."""

NEIGHBOURHOODS = Share(0.1, most=10.0, unlimited=10.0)
"""Better models than those of an engine that does not support all requirements: most are found in the first second."""

WITHIN_GAP = Share(0.45, unlimited=60.0)
"""The search with totals through the diagrams within the Lagrangian gap: it proves more than the solver after it."""

TREES_BEFORE_DIAGRAMS = Share(0.3, most=10.0, unlimited=10.0)
"""Deep trees, before diagrams of a large table are searched on some thresholds at a time, which finds worse ones for
long. The first trees alone before all tests are listed, so that most of this part goes to what follows."""

TREES_THAT_FIT = Share(0.49)
"""Of this, trees of so few tests that they fit the widths; the others are pruned to them."""

BEFORE_TREES = Share(0.1, most=1.0, unlimited=1.0)
"""The search for diagrams, before trees bound them: most small tables are proved by then."""

UNROLLED_TREES = Share(0.15, most=5.0, unlimited=5.0)
"""The best tree of the depth of a diagram, as its bound: where it is found, mostly within a second."""

SEARCH_OVER_TESTS = Share(0.3, unlimited=30.0)
"""A native search that supports the whole problem, on a table of more tests than it is meant for: its models are better
than the solver's there, and it seldom proves them."""

COUNTED_PAIRS = Share(0.45, unlimited=300.0)
"""The same search of two layers, which counts pairs of tests once: it mostly ends, where the solver would not."""

SMALLER_SHAPE = Share(0.3)
"""The same question on a shape of fewer layers, requirements and all, for each number of layers in turn: its best model
is a model of the larger shapes, which are never worse than what a smaller one answers in this time."""

PRICES_OF_ROWS = Share(0.4, unlimited=60.0)
"""A linear program over a graph, whose prices leave most of it out: the solver gets what they leave."""

PART_OF_GRAPH = Share(0.2, most=20.0, unlimited=20.0)
"""A solver on a part of a graph, for a model of the value of the bound: it is found soon, or not there."""

FEW_THRESHOLDS = Share(0.15, most=20.0, unlimited=20.0)
"""The same question over few thresholds of each column, for a model: where all of them state too much, the solver finds
none by itself."""

CORES = Share(0.1, most=10.0, unlimited=10.0)
"""Lower bounds from cores before a SAT solver descends: they grow fast at first, and slowly later."""

EACH_DEPTH = Share(0.1, most=10.0, unlimited=10.0)
"""A native engine on one depth before its formula is built: an engine that has not finished by then rarely does."""

# -- tables over numbers of tests -------------------------------------------------------------------

TABLE_ENGINE = Share(0.4, most=60.0, least=0.1, unlimited=60.0)
"""The search over tests of one feature for a whole table, where it is a bound or a start and not the answer."""

TABLE_ENGINE_FIRST = Share(0.15, least=0.1)
"""Its first turn on trees with prices, before trees with a price per test have theirs; before, the best tree of any
size."""

TREES_AT_PRICE = Share(0.3, least=0.1)
"""The tree search with one price per test, for each price."""

ONE_FEATURE = Share(0.05, most=2.0, least=0.1, unlimited=2.0)
"""Models with tests of one feature, as starts for hyperplanes."""

TABLE_MODELS = Share(0.2, most=10.0, least=0.1, unlimited=10.0)
"""The formulation's own starting models for a whole table."""

FIRST_BOUNDS = Share(0.2, most=10.0, least=0.1, unlimited=10.0)
"""The formulation's own bounds for a whole table: what they prove saves a solver, and they end soon or not at all."""

EACH_ROW = Share(0.4, least=0.1)
"""The solver on one number of tests, before the next has its turn."""

ROW_OF_ONE = Share(0.49, least=0.1)
"""The solver on a single test: every price needs it, and of all rows it is the one that is most often proved."""

FRONTIER_STEP = Share(0.25, least=0.1)
"""One bound of a frontier: a hard one must not take the time of all tighter ones."""

CONFLICT_STEP = Share(0.25, least=0.1)
"""One question about a conflict, of several that have to be answered."""

NEAR_OPTIMUM = Share(0.3, least=0.1)
"""The optimum, before the models next to it are counted."""

WHOLE_GRAPH = Share(0.25, least=0.1)
"""The graph of all models next to the optimum at once; where it takes longer, they are counted in growing parts."""

NEAR_MODELS = Share(0.45, least=0.1)
"""All near-optimal models; the rest is for the best model without a column."""

# -- a report ---------------------------------------------------------------------------------------

REPORT = Share(0.1, most=10.0, least=1.0, unlimited=10.0)
"""The curves of a report, and again the cost of its joint parities: some tens of proved solves, each about as long as
the first. Where no limit was given it is ten times the solve, so that each of the two takes at most as long again."""

# -- the check of a certificate ---------------------------------------------------------------------

PROVER = Share(0.45)
"""One of several ways to prove a claim again: what it leaves goes to the next ones."""

LISTING = Share(0.15, most=10.0, unlimited=10.0)
"""The time of the list of all trees near the least price before the engines run. After them it has that of a prover."""

FIRST_PROVER = Share(0.3, most=10.0, unlimited=10.0)
"""The first of two provers, where a second of another family may do better."""

OWN_PROVER = Share(0.49)
"""The engine that made a bound, before those that leave less of the problem out."""


def equal_part(remaining: float | None, turns: int) -> float | None:
    """Seconds of each of so many turns that are left, such as the depths of a curve; at least 0.1."""
    return None if remaining is None else max(0.1, remaining / turns)
