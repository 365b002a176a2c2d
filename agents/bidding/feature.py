"""What a bidding rule may ask about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Feature:
    """Something that a seat knows when it bids.

    Attributes:
        name: what rules call it.
        meaning: what it is, in one line.
        is_rank: is it a rank, to be compared with ranks? Else it is a number.
        takes_rank: may a rank follow in parentheses, to count from that rank up?
        is_of_hand: does it tell of the cards held, which a dealer of Beast has not seen when he
            takes the upcard (BEAST-08)?
    """

    name: str
    meaning: str
    is_rank: bool = False
    takes_rank: bool = False
    is_of_hand: bool = False


OF_HAND = (
    Feature("trumps", "trumps held; trumps(re): those from the re up", False, True, True),
    Feature("sides", "other cards held; sides(ace): the aces among them", False, True, True),
    Feature("top_trump", "the highest trump held, or none", is_rank=True, is_of_hand=True),
    Feature("second_trump", "the second highest, or none", is_rank=True, is_of_hand=True),
    Feature("third_trump", "the third highest, or none", is_rank=True, is_of_hand=True),
    Feature("top_side", "the highest rank held in the other suits, or none", True, False, True),
    Feature("voids", "suits of which none is held", is_of_hand=True),
    Feature(
        "sure_tricks",
        "tricks certain however anybody plays (B-12), unless the upcard is dealt again (I-08)",
        is_of_hand=True,
    ),
)
OF_TABLE = (
    Feature("seat", "0 for the seat after the dealer, who speaks first, up to players - 1"),
    Feature("behind", "seats that may be asked the same after this one"),
    Feature("players", "seats at the table"),
    Feature("upcard", "the rank of the upcard", is_rank=True),
    Feature("pot", "P in opening pots"),
    Feature("match", "what a lost hand costs, in parts of P: 1 unless match_limit cuts it"),
    Feature("random", "a new number from 0 to 1 each time, for rules that mix"),
)
