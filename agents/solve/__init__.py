"""Trick play with all cards open, solved exactly.

A solver plays every card by the rules of the game themselves, on copies of the record, so that
every option holds. It sees all hands: what it finds is a measure of play, and no way to play.

- `agents.solve.values`: what every card is worth, from Python.
- `agents.solve.maxn`: every seat plays for itself.
- `agents.solve.coalition`: one seat against all others together.
- `agents.solve.search`: what both have in common.
"""
