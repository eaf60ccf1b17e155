"""Decision diagrams: how far the native search gets, fragmentation, the four-fifths rule."""
