"""ConTree, trees on continuous features: pycontree beside it, growth, rules, minimum support, threads, processors."""
