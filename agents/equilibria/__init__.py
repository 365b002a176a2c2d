"""Exact equilibria of reduced games, and exact best responses to any policy in them.

`tree` holds a whole game as flat arrays and `growth` makes the tree of a reduction; `cfr` solves
it, `best_response` measures how much any behaviour could be exploited, for any number of players;
`solutions` are the files that come with the project, each with a certificate.
"""
