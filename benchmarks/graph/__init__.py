"""Trees as a flow on the AND/OR graph of the dynamic program: solvers alone, and near-optimal models."""
