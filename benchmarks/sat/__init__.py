"""Smallest trees by SAT, fewest errors by SAT and MaxSAT, and proofs that no smaller depth will do."""
