"""Deep trees: errors over time beside greedy and lookahead trees, and depth chosen by cross-validation."""
