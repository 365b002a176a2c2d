"""The strategy lab: what bids are worth, and how bidding rules compare; see `__main__`."""
