"""Trick play with all cards open, solved exactly.

Which cards are legal, which of two takes a trick, and what a hand is worth a solver asks the
rulebooks, so that every option holds. It sees all hands: what it finds is a measure of play, and
no way to play.

- `agents.solve.values`: what every card is worth, from Python.
- `agents.solve.maxn`: every seat plays for itself; for compiled code, and in batches.
- `agents.solve.coalition`: one seat against all others together; likewise.
- `agents.solve.search`: what both have in common.
- `agents.solve.partitions`: positions that the coalition need not tell apart.
- `agents.solve.outcomes`, `past`: how hands end and what that is worth, of either game.
- `agents.solve.corpus`: hands to measure the solvers by.
"""
