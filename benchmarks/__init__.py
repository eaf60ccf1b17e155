"""Every figure in the documentation, with the command that makes it again: ``python -m benchmarks`` lists them."""
