"""A local page on which a person plays at a table with any policies: `python -m experiments.play`."""
