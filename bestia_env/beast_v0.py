"""Beast as a PettingZoo AEC environment.

| | |
|---|---|
| Import | `from bestia_env import beast_v0` |
| Make | `beast_v0.env()` or `pettingzoo.make("aec", "bestia_env/beast-v0")` |
| Agents | `player_0` … `player_{n-1}`, n = 4, 5 or 6 |
| Action space | `Discrete(58)` |
| Observation space | `Dict(observation: Box (D,) float32, action_mask: Box (58,) int8)` |

An English gambling game of the 17th century, after Francis Willughby's Book of Games. Everybody
stakes and gets n+1 cards; the next card shows trumps. The dealer may take it, blind; otherwise
each in turn may declare that he plays for the pot. One other may counter. Then all play out the
tricks: a declarer who takes most wins the pot, one who does not matches it. The rulebook, clause
by clause, is `bestia_env/rules/RULEBOOK.md`.

## Actions

| Action | Meaning | Legal |
|---|---|---|
| 0–51 | a card: suit * 13 + strength; clubs, diamonds, hearts, spades; two … ace | in tricks; as the discard |
| 52 LEAVE, 53 TAKE | leave or take the upcard | dealer, first, before seeing his cards |
| 54 PASS | say nothing | in the declaration and counter rounds |
| 55 PLAY | "I Play" | in the declaration round; dealer who took |
| 56 COUNTER | "I Counter" | in the counter round |
| 57 SHOW | show a hand that is sure to win | wherever PLAY or COUNTER is, if it is sure |

## Observation

| Piece | Shape | Meaning | With 4 players at |
|---|---|---|---|
| phase | (7,) | what is being decided, one-hot; the last is a hand over | 0–6 |
| to_act | (n,) | the seat to act, one-hot | 7–10 |
| dealer | (n,) | the dealer, one-hot | 11–14 |
| hand | (52,) | own cards | 15–66 |
| trump | (4,) | the suit of trumps and of the upcard, one-hot | 67–70 |
| upcard | (13,) | the rank of the upcard, one-hot | 71–83 |
| played | (52,) | cards played in this hand, the k-th of all at k / (n * (n+1)) | 84–135 |
| leaders | (n+1, n) | who led each trick; the others followed in order of play | 136–155 |
| trick | (52,) | cards of the current trick | 156–207 |
| led | (4,) | the suit led, one-hot | 208–211 |
| winning | (n,) | the seat that is winning the trick, one-hot | 212–215 |
| tricks | (n,) | tricks taken by each seat / (n+1) | 216–219 |
| voids | (n, 4) | suits that a seat has shown not to hold | 220–235 |
| revoked | (1,) | has the observer revoked in this hand? | 236–236 |
| pot_log | (1,) | log2(1 + P / opening pot) / 4 | 237–237 |
| pot_digits | (5,) | P in coins to base 4096, each / 4096 | 238–242 |
| discard | (52,) | the observer's own discard, one-hot | 243–294 |
| upcard_is | (2,) | the upcard was left; was taken | 295–296 |
| said | (n, 3) | in the declaration round: PASS, PLAY, SHOW | 297–308 |
| countered | (n, 3) | in the counter round: PASS, COUNTER, SHOW | 309–320 |
| stakes | (3,) | this hand's stakes, one-hot: none, one from the dealer, full | 321–323 |

D is 324, 348 and 374 for 4 to 6 players.

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
| `num_players` | 4 | 4, 5 or 6; in a reduction 2 to 6 |
| `rules` | `BeastRules()` | all options below at once |
| `num_hands` | 1 | hands in a session, the deal passing; all agents terminate after the last |
| `reward` | `"equity"` | or `"coins"` |
| `render_mode` | None | `"human"`, `"ansi"` or `"rgb_array"` |
| `obs_key` | `"observation"` | name of the vector in the observation |

Every option may also be a keyword of its own:

| Option | Default | Meaning |
|---|---|---|
| `losing_counterer` | `"both_lose"` | what a Counterer pays when the Player wins (B-01): "both_lose" nothing, "pays_winner" he matches the pot for the Player, "carry" for the next hand. |
| `carry_stakes` | `"none"` | stakes on a pot carried from a hand that another seat won (B-03): "none", "dealer_one" one coin from the dealer, "full" as at the start. |
| `counter_order` | `"player_left"` | who is asked first to counter (B-04): "player_left" or "eldest". |
| `demonstration` | `"sure_tricks"` | what may be shown (B-12): "sure_tricks", "top_trumps" or "off". |
| `revoke` | `"forbidden"` | "forbidden", or "penalty": any card may be played, a revoke costs P (B-13). |
| `match_limit` | `999999999` | coins, the most that one payment of P may be (B-17). |
| `ranks` | `13` | how many of the highest ranks are in the pack; fewer than 13 make a reduction of the game for research, like fewer `suits` or `cards` (B-19). |
| `suits` | `4` | how many suits are in the pack, the first ones. |
| `cards` | `0` | cards each, and tricks in a hand; 0 for one more than players, which is the most. |

A reduction is for 2 to 6 players; spaces and numbers of actions are as in the full game. Some are
named in `bestia_env.reductions`.

`reset(options=…)` takes `deck` (an order of all 52 card ids, first card dealt first, or several,
one for each of the first hands; in a reduction, of the cards in use), `dealer` (a seat) and `pot`
(coins carried in).

## Infos

`coins` since the session began, the stakes of this hand included; `pot`; `hand_number`; `tricks`.

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

from bestia_env.aec import BeastTable, CheckedEnv


def env(**kwargs: Any) -> CheckedEnv:
    """The environment with all checks; keywords as in the module's table of arguments."""
    return CheckedEnv(raw_env(**kwargs))


class raw_env(BeastTable):
    """Beast without the checks; see the module for the specification."""
