"""Trees under requirements on totals: the native search, and pystreed beside it."""
