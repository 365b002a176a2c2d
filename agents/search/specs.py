"""What the specs of searching players say, and how these play if nothing is said.

The defaults were chosen by measurement at tables of four, one searcher among three baselines. In
Bestia among `sound` players bids by habit gain less than searched ones; so does a reading that
doubts a tenth of all bids or more, and without reading search loses, for want of respect for those
who have knocked. In one round of 40 worlds bids are too much a matter of luck: clear ones take no
more, the others are worth eight. The margin takes nothing from the gain and much from its variance.
"""

from __future__ import annotations

from typing import Any

from agents.policies import BEST_BASELINES, CHOOSER, Policy, parse_baseline
from agents.search.cheat import Cheat
from agents.search.ismcts import Ismcts
from agents.search.ismcts import Setting as IsmctsSetting
from agents.search.leaves import LEAVES, Field
from agents.search.options import Reader, baseline_or, number, read_options, whole, word
from agents.search.pimc import BY_HABIT, Pimc
from agents.search.pimc import Setting as PimcSetting

MOST_WORLDS, MOST_ROUNDS, MOST_ITERATIONS = 10_000, 16, 100_000
WORLDS, ROUNDS, MARGIN, DOUBT = 40, 8, 0.05, 0.05
ITERATIONS, EXPLORE = 500, 0.5
LEAF = {"beast": "rollout", "bestia": "maxn"}  # the tricks of Beast take long to solve


def parse(spec: str, game: str, num_players: int) -> Policy:
    """The player that a spec names: `pimc`, `ismcts` or `cheat`, with options after a colon.

    - `pimc:worlds=40,rounds=8`: worlds drawn at a time, and how often at most; `leaf` of cards:
      rollout, maxn or coalition; `bids`: the same, or a baseline that makes them; `margin` in pots
      per hand by which an action must be worth more than the habitual one.
    - `ismcts:iterations=500,explore=0.5`: walks down the tree; the second in pots per hand.
    - `cheat:leaf=maxn`, or coalition: sees all cards. `field`: the baseline by which all bid on.
    - Of both honest ones, `read`: the baseline by which the others are supposed to bid, or off;
      `doubt`: of how many bids that does not hold.

    Raises:
        ValueError: an option is unknown or has a value that is not allowed.
    """
    make = {"pimc": _pimc, "ismcts": _ismcts, "cheat": _cheat}[spec.partition(":")[0]]
    return make(spec, game, num_players)


def _pimc(spec: str, game: str, num_players: int) -> Policy:
    readers = {
        "worlds": whole(1, MOST_WORLDS),
        "rounds": whole(1, MOST_ROUNDS),
        "leaf": word(*LEAVES),
        "bids": baseline_or(game, *LEAVES),
        "margin": number(0, 1),
        **_readers_of_bids(game),
    }
    options = read_options(spec, readers)
    field, ratio = _reading(game, options)
    bids = options.get("bids", "rollout")
    by_habit = isinstance(bids, Policy)
    setting = PimcSetting(
        cards=LEAVES.index(options.get("leaf", LEAF[game])),
        bids=BY_HABIT if by_habit else LEAVES.index(bids),
        rounds=options.get("rounds", ROUNDS),
        margin=float(options.get("margin", MARGIN)),
        ratio=ratio,
        field=field,
        habit=Field.of(bids) if by_habit else field,
    )
    chooser = Pimc(game, num_players, options.get("worlds", WORLDS), setting)
    return Policy(spec, game, CHOOSER, chooser=chooser)


def _ismcts(spec: str, game: str, num_players: int) -> Policy:
    readers = {
        "iterations": whole(1, MOST_ITERATIONS),
        "explore": number(0, 100),
        **_readers_of_bids(game),
    }
    options = read_options(spec, readers)
    field, ratio = _reading(game, options)
    setting = IsmctsSetting(
        iterations=options.get("iterations", ITERATIONS),
        explore=float(options.get("explore", EXPLORE)),
        ratio=ratio,
        field=field,
    )
    return Policy(spec, game, CHOOSER, chooser=Ismcts(game, num_players, setting))


def _cheat(spec: str, game: str, num_players: int) -> Policy:
    options = read_options(spec, {"leaf": word(*LEAVES[1:]), "field": baseline_or(game)})
    field = options.get("field", parse_baseline(BEST_BASELINES[game], game))
    leaf = LEAVES.index(options.get("leaf", "maxn"))
    chooser = Cheat(game, num_players, leaf, Field.of(field))
    return Policy(spec, game, CHOOSER, chooser=chooser, cheats=True)


def _readers_of_bids(game: str) -> dict[str, Reader]:
    return {"read": baseline_or(game, "off"), "doubt": number(0, 0.5)}


def _reading(game: str, options: dict[str, Any]) -> tuple[Field, float]:
    """By whom the others bid, and how likely a bid is that he would not make."""
    usual = parse_baseline(BEST_BASELINES[game], game)
    read, doubt = options.get("read", usual), options.get("doubt", DOUBT)
    if read == "off":
        return Field.of(usual), 1.0
    return Field.of(read), doubt / (1 - doubt)
