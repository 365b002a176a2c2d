"""Policies, and the arena that compares them; run from a checkout."""
