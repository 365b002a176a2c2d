"""Random sessions through the engine and through the slow referee, compared at every step.

`python -m tests.differential --hands 1000000 --seed 1` plays on all cores. A difference ends it,
with a session cut down as far as it still differs, ready to be given to `replay`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

from bestia_env import engine
from bestia_env.rules import beast
from tests.referee import BeastReferee, BestiaReferee
from tests.sessions import (
    REDUCED,
    TABLES,
    Session,
    Table,
    members,
    random_action,
    random_session,
    random_style,
)

REFEREES = {"beast": BeastReferee, "bestia": BestiaReferee}
HANDS = 4  # in a session
CHUNK = 100  # sessions in a task
REDUCING = {"ranks", "suits", "cards", "stake"}
SECONDS = 5  # between two lines of progress

Choose = Callable[["Match", list[int]], int | None]


class Mismatch(AssertionError):
    """Engine and referee differ."""


class Match:
    """One session in both."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.engine = Table(session)
        self.referee: Any = REFEREES[session.game](
            session.num_players,
            session.options,
            session.dealer,
            session.pot,
            session.decks,
            session.heaps,
            len(session.decks),
        )
        self.kinds: Counter[str] = Counter()
        self.facts = BEAST if session.game == "beast" else BESTIA

    def play(self, choose: Choose) -> None:
        """Play to the end of the session, or until there is no choice.

        Raises:
            Mismatch: the two differ.
        """
        for hand in range(len(self.session.decks)):
            if hand:
                self.engine.deal_next()
            self._compare("opening", *_opening(self))
            if not self._play_hand(choose):
                return
            self._compare("settlement", *self.facts.settlements(self))
            self.facts.count(self)
        self._compare("end", {"phase": "OVER"}, {"phase": self.referee.phase.upper()})

    def _play_hand(self, choose: Choose) -> bool:
        while True:
            legal = self.engine.legal()
            self._compare("state", *self.facts.states(self, legal))
            action = choose(self, legal)
            if action is None:
                return False
            self.base = self.engine.read("pot")
            self.engine.act(action)
            self.referee.apply(action)
            over = self.engine.turn < 0
            if over != (len(self.referee.settlements) > self.engine.hand):
                raise Mismatch(f"{self._where()}: over for the engine: {over}, not for the referee")
            if over:
                return True

    def _compare(self, what: str, mine: dict[str, Any], theirs: dict[str, Any]) -> None:
        if mine != theirs:
            lines = [
                f"  {name}: engine {mine[name]}, referee {theirs[name]}"
                for name in mine
                if mine[name] != theirs[name]
            ]
            raise Mismatch("\n".join([f"{self._where()}, {what}:", *lines]))

    def _where(self) -> str:
        return f"hand {self.engine.hand} after {len(self.engine.actions[-1])} actions"


# What is compared: first what a hand opens with, then what changes. The engine lays the cards of a
# passer down when he answers, the referee when all have answered, so cards held and laid down count
# together until then.


def _seat(seat: int | None) -> int:
    return -1 if seat is None else seat


def _opening(match: Match) -> tuple[dict[str, Any], dict[str, Any]]:
    t, r = match.engine, match.referee
    names = ("hand_number", "dealer", "carried", "pot", "gains", "upcard", "trump")
    mine = {name: t.read(name) for name in names}
    theirs = {
        "hand_number": r.hand_number,
        "dealer": r.dealer,
        "carried": r.pot_before,
        "pot": r.pot,
        "gains": r.hand_coins,
        "upcard": r.upcard,
        "trump": r.trump,
    }
    mine["coins"] = [settled + now for settled, now in zip(t.read("coins"), mine["gains"])]
    theirs["coins"] = r.coins
    if isinstance(r, BestiaReferee):
        mine["forced"], theirs["forced"] = t.read("forced"), r.force_hand
    return mine, theirs


def _states(match: Match, legal: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    t, r = match.engine, match.referee
    trick = slice(t.read("trick_start")[t.read("trick")], t.read("plays"))
    mine = {
        "turn": t.turn,
        "phase": t.phase.lower(),
        "legal": set(legal),
        "pot": t.read("pot"),
        "tricks": t.read("tricks"),
        "trick": list(zip(t.read("play_seat")[trick], t.read("play_card")[trick])),
        "revoked": {seat for seat, revoked in enumerate(t.read("revoked")) if revoked},
    }
    theirs = {
        "turn": r.turn,
        "phase": r.phase,
        "legal": r.legal(),
        "pot": r.pot,
        "tricks": r.tricks,
        "trick": r.trick,
        "revoked": r.revokers,
    }
    return mine, theirs


def _beast_states(match: Match, legal: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    t, r = match.engine, match.referee
    mine, theirs = _states(match, legal)
    mine["hands"] = [members(cards) for cards in t.read("hands")]
    mine["discard"] = members(t.read("discard"))
    mine["taken"] = t.read("upcard_is") == beast.TAKEN
    theirs["hands"] = r.hands
    theirs["discard"] = set() if r.discarded is None else {r.discarded}
    theirs["taken"] = r.taken
    if r.phase in ("counter", "tricks"):
        mine["declared"] = t.read("player"), t.read("counterer")
        theirs["declared"] = _seat(r.player), _seat(r.counterer)
    return mine, theirs


def _bestia_states(match: Match, legal: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    t, r = match.engine, match.referee
    mine, theirs = _states(match, legal)
    for mine_name, name in (
        ("knocked", "knockers"),
        ("passed", "passers"),
        ("exchanged", "accepters"),
    ):
        mine[name], theirs[name] = members(t.read(mine_name)), set(getattr(r, name))
    mine["gathered"], theirs["gathered"] = t.read("gathered"), r.gathered
    mine["breaches"], theirs["breaches"] = t.read("breaches"), r.breaches
    hands, thrown = t.read("hands"), t.read("thrown")
    if r.phase == "tricks":
        mine["hands"], theirs["hands"] = [members(cards) for cards in hands], r.hands
        mine["thrown"], theirs["thrown"] = [members(cards) for cards in thrown], r.laid_down
        mine["playing"], theirs["playing"] = members(t.read("playing")), set(r.participants)
    else:
        mine["hands"] = [members(held | down) for held, down in zip(hands, thrown)]
        theirs["hands"] = r.hands
    return mine, theirs


def _settlements(match: Match) -> tuple[dict[str, Any], dict[str, Any]]:
    """Coins, and the pot before, with the stakes in, and after."""
    t, settlement = match.engine, match.referee.settlements[-1]
    equity = np.zeros(match.session.num_players)
    engine.write_rewards(t.states, 0, True, equity)
    gains = np.zeros(match.session.num_players)
    engine.write_rewards(t.states, 0, False, gains)
    exact = [float(share) for share in match.referee.equity(settlement)]
    mine = {
        "hand": t.read("hand_number"),
        "turn": t.turn,
        "phase": t.phase,
        "dealer": t.read("dealer"),
        "before": t.read("carried"),
        "base": match.base,
        "after": t.read("pot"),
        "coins": t.read("gains"),
        "reward": gains.tolist(),
        "equity": exact if np.allclose(equity, exact, rtol=1e-15, atol=1e-3) else equity.tolist(),
        "tricks": t.read("tricks"),
    }
    theirs = {
        "hand": settlement.hand_number,
        "turn": -1,
        "phase": "OVER",
        "dealer": settlement.dealer,
        "before": settlement.pot_before,
        "base": settlement.base_pot,
        "after": settlement.pot_after,
        "coins": settlement.coins,
        "reward": [float(coins) for coins in settlement.coins],
        "equity": exact,
        "tricks": settlement.tricks,
    }
    return mine, theirs


def _beast_settlements(match: Match) -> tuple[dict[str, Any], dict[str, Any]]:
    t, settlement = match.engine, match.referee.settlements[-1]
    mine, theirs = _settlements(match)
    shown = beast.SAID_SHOW in t.read("said") + t.read("countered")
    mine |= {"declared": (t.read("player"), t.read("counterer")), "shown": shown}
    declared = _seat(settlement.player), _seat(settlement.counterer)
    return mine, theirs | {"declared": declared, "shown": settlement.shown}


def _bestia_settlements(match: Match) -> tuple[dict[str, Any], dict[str, Any]]:
    mine, theirs = _settlements(match)
    mine |= {"playing": sorted(members(match.engine.read("playing")))}
    return mine, theirs | {"playing": match.referee.settlements[-1].participants}


# What happened, so that the test can say that it has seen it all.


def _count_beast(match: Match) -> None:
    t, kinds, settlement = match.engine, match.kinds, match.referee.settlements[-1]
    discard = list(members(t.read("discard")))
    tricks = sorted(settlement.tricks)
    lost = settlement.winner not in (None, settlement.player, settlement.counterer)
    kinds.update(
        {
            "taken": bool(discard),
            "upcard discarded": discard == [t.read("upcard")],
            "trump discarded": bool(discard) and discard[0] // beast.RANKS == t.read("trump"),
            "void": settlement.winner is None,
            "dealer shows": settlement.shown and bool(discard) and settlement.counterer is None,
            "player shows": settlement.shown and settlement.counterer is None,
            "counterer shows": settlement.shown and settlement.counterer is not None,
            "player beats counterer": not settlement.shown
            and settlement.counterer is not None
            and settlement.winner == settlement.player,
            "counterer wins": not settlement.shown
            and settlement.counterer is not None
            and settlement.winner == settlement.counterer,
            "lone player loses": lost and settlement.counterer is None,
            "both lose": lost and settlement.counterer is not None,
            "tie": tricks[-1] == tricks[-2] > 0,
            "early end": 0 < sum(tricks) < match.referee.h,
            "all tricks": sum(tricks) == match.referee.h,
            "revoke": any(settlement.penalties),
            "several revoke": sum(coins > 0 for coins in settlement.penalties) > 1,
            "revoker wins": settlement.winner is not None
            and settlement.penalties[settlement.winner] > 0,
            "limited": match.referee.match_limit < settlement.base_pot,
            "no stakes": settlement.base_pot == settlement.pot_before,
            "one coin": settlement.base_pot == settlement.pot_before + 1,
            "stakes on a carry": settlement.base_pot > settlement.pot_before + 1 > 1,
        }
    )


def _count_bestia(match: Match) -> None:
    t, kinds, settlement = match.engine, match.kinds, match.referee.settlements[-1]
    passed, asked = t.read("passed"), t.read("refused") | t.read("exchanged")
    given = t.read("hands")
    plays = t.read("play_card")[: t.read("plays")]
    held = t.read("upcard") in plays or any(hand >> t.read("upcard") & 1 for hand in given)
    kinds.update(
        {
            "exchange from the stock": bool(t.read("exchanged")) and not t.read("gathered"),
            "gathering": t.read("gathered"),
            "upcard dealt again": held,
            "offers stop": asked != passed,
            "several left out": (passed & ~asked).bit_count() > 1,
            "refusal": bool(t.read("refused")),
            "void": not settlement.participants,
            "dealer takes": not settlement.participants and settlement.pot_after == 0,
            "lone taker": len(settlement.participants) == 1,
            "force": settlement.force,
            "two forces": settlement.force and t.read("forced"),
            "bete": bool(settlement.bete),
            "several bete": len(settlement.bete) > 1,
            "nobody bete": len(settlement.participants) > 1 and not settlement.bete,
            "first hand out": len(settlement.participants) > 1
            and (settlement.dealer + 1) % match.session.num_players not in settlement.participants,
            "knocker leads": bool(plays) and t.read("play_seat")[0] != _next_in(match),
            "revoke": any(t.read("revoked")),
            "breach": any(t.read("breaches")),
            "several breaches": max(t.read("breaches")) > 1,
            "revoke and breach": any(
                a and b for a, b in zip(t.read("revoked"), t.read("breaches"))
            ),
            "limited": match.referee.match_limit < settlement.base_pot,
            "no stake": settlement.base_pot == settlement.pot_before,
        }
    )


def _next_in(match: Match) -> int:
    """The participant at or after first hand."""
    settlement, n = match.referee.settlements[-1], match.session.num_players
    return min(settlement.participants, key=lambda seat: (seat - settlement.dealer - 1) % n)


@dataclass(frozen=True)
class Facts:
    """What is compared in a game, and what is counted.

    Attributes:
        states: what the two say at a decision, (match, legal) -> (engine's, referee's).
        settlements: what they say of the hand just settled.
        count: counts what happened in it.
    """

    states: Callable[[Match, list[int]], tuple[dict[str, Any], dict[str, Any]]]
    settlements: Callable[[Match], tuple[dict[str, Any], dict[str, Any]]]
    count: Callable[[Match], None]


BEAST = Facts(_beast_states, _beast_settlements, _count_beast)
BESTIA = Facts(_bestia_states, _bestia_settlements, _count_bestia)


# Playing, replaying, and cutting down.


def play_random(
    rng: Random, game: str, num_players: int, hands: int = HANDS, *, reduced: bool = False
) -> Match:
    """Play one random session, of a random reduction if it shall be one.

    Raises:
        Mismatch: the two differ; says how to see it again.
    """
    match = Match(random_session(rng, game, num_players, hands, reduced=reduced))
    style = random_style(rng)
    try:
        match.play(lambda match, legal: random_action(rng, match.engine, style, legal))
    except Exception as error:
        session = smaller(replace(match.session, actions=match.engine.actions))
        raise Mismatch(f"{error!r}\n{report(session)}") from error
    return match


def replay(session: Session) -> None:
    """Carry out the actions of a session, as long as they are legal, in both.

    Raises:
        Mismatch: the two differ.
    """
    actions = {hand: iter(played) for hand, played in enumerate(session.actions)}

    def recorded(match: Match, legal: list[int]) -> int | None:
        action = next(actions.get(match.engine.hand, iter(())), None)
        return action if action in legal else None

    Match(replace(session, heaps=list(session.heaps))).play(recorded)


def difference(session: Session) -> str | None:
    """What goes wrong in a session, or None."""
    try:
        replay(session)
    except Exception as error:  # whatever a broken engine or referee may do
        return f"{type(error).__name__}: {error}"
    return None


def smaller(session: Session) -> Session:
    """The session without hands and options that the difference does not need."""
    again = True
    while again:
        again = False
        for attempt in _attempts(session):
            if difference(attempt) is not None:
                session, again = attempt, True
                break
    return session


def _attempts(s: Session) -> Iterator[Session]:
    if len(s.decks) > len(s.actions):
        last = len(s.actions)
        yield replace(s, decks=s.decks[:last], heaps=s.heaps[:last])
    if len(s.decks) > 1 and s.key is None:
        dealer = (s.dealer + 1) % s.num_players
        rest: dict[str, Any] = {
            "decks": s.decks[1:],
            "heaps": s.heaps[1:],
            "actions": s.actions[1:],
        }
        for pot in (0, s.pot):
            yield replace(s, dealer=dealer, pot=pot, **rest)
    if s.key is not None:
        yield replace(s, key=None)
    if s.pot:
        yield replace(s, pot=0)
    for name in s.options.keys() - REDUCING:  # without those, it would be another pack
        yield replace(s, options={k: v for k, v in s.options.items() if k != name})


def report(session: Session) -> str:
    """What differs, and the lines of Python that show it."""
    return (
        f"{difference(session)}\n\n"
        f"from tests.differential import replay\nfrom tests.sessions import Session\n"
        f"replay({session!r})"
    )


# A million hands.


@dataclass
class Tally:
    """What a task has played.

    Attributes:
        hands: how many.
        moves: how many.
        kinds: how often each thing happened, as "game: thing".
    """

    hands: int = 0
    moves: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add another task's."""
        self.hands += other.hands
        self.moves += other.moves
        self.kinds.update(other.kinds)


def play_chunk(task: tuple[int, int, int]) -> Tally:
    """Play sessions at all tables in turn; the task is the seed, the chunk's number, how many."""
    seed, chunk, sessions = task
    rng = Random(f"{seed} {chunk}")
    tally = Tally()
    for number in range(chunk * CHUNK, chunk * CHUNK + sessions):
        tables = REDUCED if number % 2 else TABLES
        game, num_players = tables[number // 2 % len(tables)]
        match = play_random(rng, game, num_players, reduced=tables is REDUCED)
        tally.hands += len(match.engine.actions)
        tally.moves += sum(map(len, match.engine.actions))
        for kind, times in match.kinds.items():
            tally.kinds[f"{game}: {kind}"] += times
    return tally


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hands", type=int, default=1_000_000, help="about how many")
    parser.add_argument("--seed", type=int, default=None, help="default: a fresh one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    args = parser.parse_args(arguments)
    seed = Random().getrandbits(32) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    chunks = -(-args.hands // (HANDS * CHUNK))
    tasks = [(seed, chunk, CHUNK) for chunk in range(chunks)]
    play_chunk((seed, 0, 2 * len(TABLES)))  # compiles once, before there are several processes
    tally, start = Tally(), time.monotonic()
    shown = start
    with multiprocessing.get_context("spawn").Pool(args.jobs) as pool:
        for done, part in enumerate(pool.imap_unordered(play_chunk, tasks), 1):
            tally.add(part)
            if time.monotonic() - shown > SECONDS or done == chunks:
                shown = time.monotonic()
                print(_progress(tally, done / chunks, shown - start), flush=True)
    for kind, times in sorted(tally.kinds.items()):
        print(f"{times:>9}  {kind}")
    print(f"{tally.hands} hands, {tally.moves} moves: no difference")
    return 0


def _progress(tally: Tally, share: float, seconds: float) -> str:
    speed, left = tally.hands / seconds, seconds / share - seconds
    return f"{share:6.1%}  {tally.hands} hands  {speed:.0f} hands/s  {left:.0f} s left"


if __name__ == "__main__":
    sys.exit(main())
