"""Trick play with all cards open, solved exactly.

Which cards are legal, which of two takes a trick, and what a hand is worth a solver asks the
rulebooks, so that every option holds. It sees all hands: what it finds is a measure of play, and
no way to play.

- `agents.solve.values`: what every card is worth, from Python.
- `agents.solve.maxn`: every seat plays for itself; for compiled code, and in batches.
- `agents.solve.coalition`: one seat against all others together; likewise.
- `agents.solve.search`: what both have in common.
- `agents.solve.coalition_beast`, `coalition_bestia`: what the latter keeps of positions, by game.
- `agents.solve.partitions`, `needs`: positions that the coalition of Beast need not tell apart, by
  cards and by the past.
- `agents.solve.certain`: tricks that nobody can take away.
- `agents.solve.outcomes`, `past`: how hands end and what that is worth, of either game.
- `agents.solve.corpus`: hands to measure the solvers by.
"""
