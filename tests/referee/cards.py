"""Cards are ints: suit * ranks + strength (rulebook, "Cards, actions, and deals as data")."""

from collections.abc import Iterable, Sequence


def suit_of(card: int, ranks: int) -> int:
    return card // ranks


def of_suit(cards: Iterable[int], suit: int, ranks: int) -> set[int]:
    return {card for card in cards if suit_of(card, ranks) == suit}


def best_play(trick: Sequence[tuple[int, int]], trump: int, ranks: int) -> tuple[int, int]:
    """The (seat, card) that holds the trick so far (BEAST-27, BESTIA-27).

    The highest trump; without trumps, the highest card of the suit led. Within one suit the
    higher id is the higher card.
    """
    trumps = [play for play in trick if suit_of(play[1], ranks) == trump]
    led = suit_of(trick[0][1], ranks)
    followers = [play for play in trick if suit_of(play[1], ranks) == led]
    return max(trumps or followers, key=lambda play: play[1])
