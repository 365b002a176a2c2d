"""Bestia as a PettingZoo AEC environment.

| | |
|---|---|
| Import | `from bestia_env import bestia_v0` |
| Make | `bestia_v0.env()` or `pettingzoo.make("aec", "bestia_env/bestia-v0")` |
| Agents | `player_0` … `player_{n-1}`, n from 3 to 10 |
| Action space | `Discrete(44)` |
| Observation space | `Dict(observation: Box (D,) float32, action_mask: Box (44,) int8)` |

An Italian gambling game with 40 cards. The dealer stakes, trumps are turned, everybody gets three
cards. In turn each passes or knocks; those who passed may then change all their cards and join.
Each trick earns a third of the pot, and who takes part and takes none pays as much as the pot
holds into the next. The rulebook, clause by clause, is `bestia_env/rules/RULEBOOK.md`.

## Actions

| Action | Meaning | Legal |
|---|---|---|
| 0–39 | a card: suit * 10 + strength; bastoni, coppe, denari, spade; 2 4 5 6 7 F C R 3 A | in tricks |
| 40 PASS, 41 KNOCK | stay out, or play and take at least one trick | in the auction |
| 42 REFUSE, 43 EXCHANGE | stay out, or take three new cards and play | after the auction, if passed |

## Observation

| Piece | Shape | Meaning | With 4 players at |
|---|---|---|---|
| phase | (4,) | what is being decided, one-hot; the last is a hand over | 0–3 |
| to_act | (n,) | the seat to act, one-hot | 4–7 |
| dealer | (n,) | the dealer, one-hot | 8–11 |
| hand | (40,) | own cards | 12–51 |
| trump | (4,) | the suit of trumps and of the upcard, one-hot | 52–55 |
| upcard | (10,) | the rank of the upcard, one-hot | 56–65 |
| played | (40,) | cards played in this hand, the k-th of all at k / (3 * n) | 66–105 |
| leaders | (3, n) | who led each trick; the others followed in order of play | 106–117 |
| trick | (40,) | cards of the current trick | 118–157 |
| led | (4,) | the suit led, one-hot | 158–161 |
| winning | (n,) | the seat that is winning the trick, one-hot | 162–165 |
| tricks | (n,) | tricks taken by each seat / 3 | 166–169 |
| voids | (n, 4) | suits that a seat has shown not to hold | 170–185 |
| revoked | (1,) | has the observer revoked in this hand? | 186–186 |
| pot_log | (1,) | log2(1 + P / opening pot) / 4 | 187–187 |
| pot_digits | (5,) | P in coins to base 4096, each / 4096 | 188–192 |
| thrown | (40,) | own cards laid down for good | 193–232 |
| auction | (n, 2) | PASS, KNOCK | 233–240 |
| offer | (n, 2) | REFUSE, EXCHANGE | 241–248 |
| playing | (n,) | seats in the tricks, known once the exchange is done | 249–252 |
| gathered | (1,) | did the dealer gather cards for the exchange? | 253–253 |
| forced | (1,) | is this a force hand? Once it is over: is the next? | 254–254 |
| breaches | (1,) | the observer's breaches of the maxims / 3 | 255–255 |
| stake_digits | (4,) | stake in coins to base 4096, each / 4096 | 256–259 |

D is 244, 260, 276, 292, 308, 324, 340 and 356 for 3 to 10 players.

Seats are relative to the observer, 0 being the observer. `observation_pieces` gives each piece's
slice, `bestia_env.describe(…)` says a vector in words. The mask is all zeros for seats not to act.

## Rewards

At the settlement of each hand every seat gets, in coins, with `reward="equity"` (the default) its
net coins plus an equal share of the growth of the pot, so that every hand sums to zero; with
`reward="coins"` its net coins. All other steps give 0. An illegal action is refused by
`raw_env()`, and with `env()` annuls the hand and ends the session: the offender's reward is
-min(P, match_limit), where P is the pot, and the others share it.

## Arguments

| Argument | Default | Meaning |
|---|---|---|
| `num_players` | 4 | 3 to 10; in a reduction 2 to 10 |
| `rules` | `BestiaRules()` | all options below at once; `BestiaRules.circle()` is a preset |
| `num_hands` | 1 | hands in a session, the deal passing; all agents terminate after the last |
| `reward` | `"equity"` | or `"coins"` |
| `render_mode` | None | `"human"`, `"ansi"` or `"rgb_array"` |
| `obs_key` | `"observation"` | name of the vector in the observation |

Every option may also be a keyword of its own:

| Option | Default | Meaning |
|---|---|---|
| `stake` | `3` | coins that the dealer pays into the pot, a multiple of 3 (I-03). |
| `dealer_stake` | `"always"` | "always", or "only_if_empty": not on top of a carried pot (I-02). |
| `all_pass` | `"carry"` | when nobody takes part "carry" the pot, or "dealer_takes" it (I-04). |
| `first_lead` | `"next_active"` | where first hand is out, "next_active" or "first_knocker" leads (I-11). |
| `must_head` | `False` | must a card that beats the best be played where one may? (I-12) |
| `force` | `False` | does a hand without a bête make the next a force? (BESTIA-31, I-13) |
| `revoke` | `"forbidden"` | "forbidden", or "penalty": any card may be played, a revoke costs P (I-16). |
| `maxims` | `"off"` | "off", "mask": breaches are not offered, "penalty": each costs P (I-17). |
| `maxim_1` | `True` | a leader who holds the ace of trumps leads it (BESTIA-32). |
| `maxim_2` | `True` | a leader after the first trick leads a trump if he has one (BESTIA-34). |
| `maxim_3` | `True` | who has to play a trump plays his highest (BESTIA-35, BESTIA-36). |
| `match_limit` | `999999999` | coins, the most that one payment of P may be, a multiple of 3 (I-01). |
| `ranks` | `10` | how many of the highest ranks are in the pack; fewer than 10 make a reduction of the game for research, like fewer `suits` or `cards` (I-24). |
| `suits` | `4` | how many suits are in the pack, the first ones. |
| `cards` | `3` | cards each, and tricks in a hand. With 2, `stake` and `match_limit` are multiples of 6, and the latter's default counts as 999 999 996. |

A reduction is for 2 to 10 players; spaces and numbers of actions are as in the full game. Some are
named in `bestia_env.reductions`.

`reset(options=…)` takes `deck` (an order of all 40 card ids, first card dealt first, or several,
one for each of the first hands; in a reduction, of the cards in use), `heap` (likewise, the order
in which gathered cards are dealt), `dealer` (a seat) and `pot` (coins carried in, a multiple of 3;
of 6 with two cards each).

## Infos

`coins` since the session began, the stake of this hand included; `pot`; `hand_number`; `tricks`.

## Rendering

`render()` shows the table with all cards open: "ansi" returns text and "rgb_array" a picture,
(512, 640, 3) uint8; "human" shows every act in a window, `metadata["render_fps"]` of them a
second. Pictures need `pip install 'bestia_env[human]'`. A notebook shows an environment at the end
of a cell as a picture, and `bestia_env.render` draws any state as any seat sees it.

## Version history

* v0: first release.
"""

from __future__ import annotations

from typing import Any

from bestia_env.aec import BestiaTable, CheckedEnv


def env(**kwargs: Any) -> CheckedEnv:
    """The environment with all checks; keywords as in the module's table of arguments."""
    return CheckedEnv(raw_env(**kwargs))


class raw_env(BestiaTable):
    """Bestia without the checks; see the module for the specification."""
