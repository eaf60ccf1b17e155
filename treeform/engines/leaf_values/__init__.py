"""The best values at the leaves of a given tree under linear rows, exactly, and what is searched with them."""
