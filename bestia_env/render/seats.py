"""The seats of a table as SVG: panels with name, coins, role and cards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bestia_env.render import cards
from bestia_env.render.artwork import GOLD, INK, PALE_GOLD, PAPER
from bestia_env.render.elements import box, element, escaped, group, label, text_width
from bestia_env.render.facts import Facts
from bestia_env.render.places import HEIGHT, OWN_TOP, WIDTH, Place, Sizes

_CHIPS = {
    **dict.fromkeys(("Player", "knocked"), (GOLD, INK)),
    **dict.fromkeys(("Counterer", "exchanged"), ("#9fd3ff", INK)),
    "forced": ("#e6d3ff", INK),
    "bête": ("#c8102e", "#fff"),
}
_OTHER_CHIP = ("#47524d", "#fff")
_GAIN, _LOSS = "#8ff0b0", "#ffb3a6"
_TURN = "#ffd84d"
_OUT = ("out", "refused")
_TRICKS_WIDTH = 28
_OWN_CARD, _OWN_LEFT, _OWN_RIGHT = 84, 158, 622  # the cards of the seat at the bottom


@dataclass(frozen=True)
class Hand:
    """How a seat's cards are laid out: from `left` to `right`, with their top at `y`."""

    left: float
    right: float
    y: float
    height: float
    away_height: float
    step: float  # at most so much from card to card
    whole: bool  # whole faces, or small ones


def panel(facts: Facts, seat: int, place: Place, sizes: Sizes) -> str:
    """A seat that is not the one at the bottom."""
    width, height = sizes.width, sizes.height
    hand = Hand(4, width - 4, 33, sizes.card, 36, sizes.card * 0.7, whole=False)
    inner = [
        _frame(facts, seat, width, height),
        _name(facts, seat, 7, 15, 12, width - 12 - _TRICKS_WIDTH * _has_tricks(facts)),
        _tricks(facts, seat, width - 6, 15, 12),
        _coins_and_gain(facts, seat, 7, width - 6, 28, 11.2),
        _cards(facts, seat, hand),
        _chip(facts.role(seat), width / 2, height),
    ]
    return _seat(seat, inner, place.x - width / 2, place.y - height / 2)


def own_panel(facts: Facts, seat: int) -> str:
    """The seat at the bottom, with large cards."""
    hand = Hand(_OWN_LEFT, _OWN_RIGHT, 10, _OWN_CARD, 48, 60, whole=True)
    inner = [
        _frame(facts, seat, WIDTH - 12, HEIGHT - OWN_TOP - 6),
        _name(facts, seat, 10, 22, 14, 150),
        _coins_and_gain(facts, seat, 10, 154, 43, 13),
        _tricks(facts, seat, 36, 64, 13),
        _cards(facts, seat, hand),
        _chip(facts.role(seat), 56, 85),
    ]
    return _seat(seat, inner, 6, OWN_TOP)


def _seat(seat: int, inner: list[str], x: float, y: float) -> str:
    return group(*inner, x=x, y=y, class_="seat", data_seat=seat)


def _frame(facts: Facts, seat: int, width: float, height: float) -> str:
    is_out = facts.role(seat) in _OUT
    shape = {"rx": 9, "fill": "#0b241b", "fill_opacity": 0.45 if is_out else 0.82}
    if seat != facts.turn:
        return box(0, 0, width, height, stroke="#6f9484", stroke_width=1, **shape)
    halo = {"rx": 12, "fill": "none", "stroke": _TURN, "stroke_opacity": 0.35, "stroke_width": 4}
    rim = {"stroke": _TURN, "stroke_width": 3}
    return box(-3, -3, width + 6, height + 6, **halo) + box(0, 0, width, height, **rim, **shape)


def _name(facts: Facts, seat: int, x: float, y: float, size: float, right: float) -> str:
    is_dealer = seat == facts.v.dealer
    start = x + 19 if is_dealer else x
    button = _dealer_button(x + 7, y - size * 0.36) if is_dealer else ""
    name = label(start, y, facts.names[seat], size, width=right - start, font_weight="bold")
    return button + name


def _dealer_button(x: float, y: float) -> str:
    disc = element("circle", element("title", "dealer"), cx=x, cy=y, r=7.5, fill=PAPER, stroke=INK)
    return disc + label(x, y + 4, "D", 11, fill=INK, text_anchor="middle", font_weight="bold")


def _has_tricks(facts: Facts) -> bool:
    return bool(facts.v.plays)


def _tricks(facts: Facts, seat: int, right: float, y: float, size: float) -> str:
    """The number of tricks taken beside a small pile, once there are any to take."""
    if not _has_tricks(facts):
        return ""
    taken = int(facts.v.tricks[seat])
    back = {"fill": "#8c2233", "stroke": "#e9cf9a", "rx": 1.5}
    pile = box(right - 25, y - 10, 7, 10, **back) + box(right - 22, y - 8.5, 7, 10, **back)
    number = label(right, y, str(taken), size, text_anchor="end", font_weight="bold")
    return group(element("title", f"tricks taken: {taken}"), pile, number)


def _coins_and_gain(
    facts: Facts, seat: int, left: float, right: float, y: float, size: float
) -> str:
    """Coins since the session began; and those won or lost in the hand, once it is over."""
    coins, gain = facts.coins(seat), int(facts.v.gains[seat]) if facts.is_over else None
    total, won = _amounts(coins, gain, (right - left - 18) / size)
    fill = "#fff" if not gain else _GAIN if gain > 0 else _LOSS
    end: dict[str, Any] = {"text_anchor": "end", "font_weight": "bold"}
    return "".join(
        [
            element("circle", cx=left + 4.5, cy=y - 4, r=4.5, fill=GOLD, stroke=PALE_GOLD),
            label(left + 13, y, total, size, PALE_GOLD),
            label(right, y, won, size, fill, **end),
        ]
    )


def _amounts(coins: int, gain: int | None, ems: float) -> tuple[str, str]:
    """Coins and gain, if there is one, as exact as there is room for."""
    if gain is None:
        return coins_text(coins, "+", ems), ""
    exact = text_width(coins_text(coins, "+"), 1)
    won = coins_text(gain, "+", max(ems / 2, ems - exact))
    return coins_text(coins, "+", ems - text_width(won, 1)), won


def coins_text(coins: int, sign: str = "", ems: float = math.inf) -> str:
    """An amount with its thousands apart, or with as many digits as so many em have room for."""
    exact = f"{coins:{sign},}".replace(",", " ")
    rounded = [f"{coins:{sign}.{digits}e}".replace("e+0", "e+") for digits in (3, 2, 1, 0)]
    shown = [words.replace("-", "−").replace("e+", "e") for words in (exact, *rounded)]
    return next((words for words in shown if text_width(words, 1) <= ems), shown[-1])


def _chip(role: str, x: float, y: float) -> str:
    if not role:
        return ""
    fill, ink = _CHIPS.get(role, _OTHER_CHIP)
    width = text_width(role, 11.5) + 18
    plate = box(x - width / 2, y - 8, width, 16, rx=8, fill=fill, stroke="#0b241b")
    return plate + label(x, y + 4, role, 11.5, fill=ink, text_anchor="middle", font_weight="bold")


def _cards(facts: Facts, seat: int, hand: Hand) -> str:
    """The cards held, then those laid away, which are smaller and lie in a tray."""
    held = [*facts.held(seat), *[None] * facts.number_hidden(seat)]
    away = facts.away(seat)
    tray, tray_width = _tray(facts, seat, away, hand) if away else ("", 0)
    width = cards.WIDTH * hand.height / cards.HEIGHT
    room = hand.right - hand.left - tray_width
    step = min(hand.step, (room - width) / max(len(held) - 1, 1))
    total = width + step * (len(held) - 1) if held else 0
    middle = (hand.left + hand.right) / 2 if not hand.whole else WIDTH / 2 - 6
    left = max(hand.left, min(middle - total / 2, hand.right - tray_width - total))
    row = [
        card(facts, one, left + step * k, hand.y, hand.height, seat, "hand", hand.whole)
        for k, one in enumerate(held)
    ]
    return "".join(row) + tray


def _tray(facts: Facts, seat: int, away: list[int], hand: Hand) -> tuple[str, float]:
    height = hand.away_height
    width, step = cards.WIDTH * height / cards.HEIGHT, height * 0.39
    total = width + step * (len(away) - 1) + 6
    left, top = hand.right - total + 2, hand.y + hand.height - height - 5
    dashes = {"fill_opacity": 0.35, "stroke": "#c9d6cf", "stroke_dasharray": "3 2"}
    tray = box(left - 3, top - 3, total, height + 6, rx=4, fill="#000", **dashes)
    row = [
        card(facts, one, left + step * k, top, height, seat, "away") for k, one in enumerate(away)
    ]
    title = element("title", escaped(facts.laid_away))
    return group(title, tray, group(*row, opacity=0.8)), total + 3


def card(
    facts: Facts,
    one: int | None,
    x: float,
    y: float,
    height: float,
    seat: int | None,
    place: str,
    whole: bool = False,
) -> str:
    """A card on the table, face down if None; the attributes say which, whose and where."""
    scale = height / cards.HEIGHT
    where = {"data_seat": seat, "data_place": place}
    if one is None:
        return group(cards.back(), x=x, y=y, scale=scale, class_="back", **where)
    face = cards.face(facts.pack, one) if whole else cards.small_face(facts.pack, one)
    title = element("title", escaped(facts.pack.long_name(one)))
    named = {"class_": "card", "data_card": one, "data_name": facts.pack.name(one)}
    return group(title, face, x=x, y=y, scale=scale, **named, **where)
