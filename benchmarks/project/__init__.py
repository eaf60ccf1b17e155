"""What the README shows, its main job on each solver, and how fast models are built."""
