"""The attack on every verb: tiny tables, the list of all their models, and one definition of each requirement."""
