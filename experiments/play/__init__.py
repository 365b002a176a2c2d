"""A local page on which a person plays with any policies: `python -m experiments.play`."""
