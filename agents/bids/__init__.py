"""The bidding of whole games solved for a fixed play of the cards, and played by table.

`bestia` and `beast` say which hands and which places in the bidding a table tells apart;
`traversal` walks through deals, `solver` learns from them, `gaps` bounds how far the result is from
an equilibrium; `imitation` reads the bids of any policy, so that they are judged alike; `table` is
the file and the policy `bids:FILE`. `experiments.solve_bids` makes them.

Payments of both games are multiples of P, the pot when the stakes are in, except for the stakes,
which are paid before anybody bids. So the same bids are right whatever is in the pot, unless a
`match_limit` caps payments of P.
"""
