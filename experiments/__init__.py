"""Training, evaluation and benchmarks: `python -m experiments.NAME` from a checkout."""
