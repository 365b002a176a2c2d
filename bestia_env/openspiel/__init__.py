"""Both games as games of OpenSpiel, so that its algorithms run on them as they are.

Importing this module registers `python_beast` and `python_bestia`:

    import pyspiel
    import bestia_env.openspiel

    game = pyspiel.load_game("python_beast(players=5,revoke=penalty)")
    small = bestia_env.openspiel.load_reduction("beast2-small")

It needs OpenSpiel: pip install 'bestia_env[openspiel]'. One hand is one game. Parameters are every
option of `BeastRules` or `BestiaRules` by its name (integers of OpenSpiel have 32 bits: of larger
ones `pyspiel.load_game` says no more than "CHECK_TRUE(success)" or "Unable to cast"), and

| Parameter | Default | Meaning |
|---|---|---|
| `players` | 4 | seats |
| `dealer` | 0 | a seat; -1 for a first move of chance that draws it (B-14, I-15) |
| `pot` | 0 | coins carried in, before the stakes of this hand |
| `reward` | `"equity"` | or `"coins"`, as in the other environments (B-18) |
| `per_pot` | `True` | are utilities in pots, that is divided by P, or in coins? |

With "equity" the game is zero-sum; pots per hand are the measure of the arena. With a fixed dealer,
which keeps the tree small, a player of OpenSpiel is a place at the table.

Cards are dealt one at a time in the order of the rules, but each packet in ascending order of ids,
so that every deal is one history; the chances make all deals equally likely, and so are not
uniform. New cards of an exchange are moves of chance once all have answered; a lone taker (I-05)
gets none, for they change nothing. Outcomes of chance are cards, or seats for a dealer by lot;
actions are those of the rulebook.

Information states and observations hold the same: all that a player with perfect memory knows. The
tensors are laid out by `bestia_env.observe`. Until a deal is complete nobody has seen anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import Any

import numpy as np

from bestia_env.games import GAMES
from bestia_env.observe import write_observation
from bestia_env.openspiel.hands import CHANCE, TERMINAL, Hand
from bestia_env.openspiel.resampling import Deal, deal_of, guess, replay
from bestia_env.openspiel.tables import check_parameters, copied, parameters, table_of
from bestia_env.reductions import reduction_named
from bestia_env.rules.table import NOBODY
from bestia_env.view import look

try:
    import pyspiel
except ImportError as error:
    raise ImportError(
        "bestia_env.openspiel needs OpenSpiel: pip install 'bestia_env[openspiel]'"
    ) from error

__all__ = ["HandGame", "HandObserver", "HandState", "load_reduction"]

MIN_PLAYERS = 2  # of a reduction
ATTEMPTS = 100_000
"""How many deals `resample_from_infostate` tries."""
PRIVATE = ("hand", "discard", "thrown", "revoked", "breaches")
"""The pieces of an observation that only the observer knows."""


class HandState(pyspiel.State):
    """A hand as far as it has come."""

    def __init__(self, game: HandGame) -> None:
        """Before the first card; `game.new_initial_state()` makes one."""
        super().__init__(game)
        self._hand = Hand(game.table)

    def current_player(self) -> int:
        """The seat to act, or whoever stands for chance or for the end."""
        return self._hand.turn

    def is_terminal(self) -> bool:
        """Is the hand settled?"""
        return self._hand.turn == TERMINAL

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of a move of chance, ascending, with their chances."""
        return self._hand.outcomes()

    def _legal_actions(self, player: int) -> list[int]:
        return self._hand.legal()

    def _apply_action(self, action: int) -> None:
        self._hand.act(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE and self._hand.dealer == NOBODY:
            return f"dealer {action}"
        return self._hand.table.action_names[action]

    def returns(self) -> list[float]:
        """The utility of every seat; 0 while the hand is on."""
        return self._hand.returns()

    def __str__(self) -> str:
        """All that has happened, hidden cards too."""
        hand = self._hand
        seats = " ".join(f"seat {seat}: {own}" for seat, own in enumerate(hand.private))
        packets = f"; dealing {(*hand.draw.dealt, hand.draw.packet)}" if hand.draw else ""
        return f"{hand.public} {seats} dealer {hand.dealer}{packets}"

    # Beyond OpenSpiel.

    @property
    def game_name(self) -> str:
        """Which of the two games, "beast" or "bestia"."""
        return self._hand.table.game.name

    def view(self, player: int) -> np.ndarray:
        """What the seat may know, (1,) record, for policies and samplers of worlds.

        Raises:
            ValueError: the deal is not complete.
        """
        if not self._hand.is_dealt:
            raise ValueError("there is no view before the deal is complete")
        views = copied(self._hand.states)
        look(self._hand.states, 0, player, views, 0)
        return views

    def in_world(self, world: np.record) -> HandState:
        """The state to which the same acts have led in another world.

        Args:
            world: a state record with the public acts of this state, as
                `agents.worlds.determinize` draws them from a view.

        Raises:
            ValueError: nobody is to act, or the acts were not legal in this world.
        """
        return self._after(deal_of(self._hand.table, world))

    def resample_from_infostate(
        self, player: int, probability_sampler: Callable[[], float]
    ) -> HandState:
        """A random state that the seat cannot tell from this one, from all equally likely deals.

        Deals with the cards that the seat knows are drawn until all acts are legal in one. In the
        full games that can take long once voids have shown; samplers that count them do better.

        Args:
            player: the seat.
            probability_sampler: gives a number in [0, 1), from which all draws follow.

        Raises:
            ValueError: nobody is to act.
            RuntimeError: no deal was found.
        """
        rng, view = Random(probability_sampler()), self.view(player)[0]
        for _ in range(ATTEMPTS):
            deal = guess(self._hand.table, view, rng)
            try:
                return self._after(deal)
            except ValueError:
                self._check_turn()
        raise RuntimeError(f"seat {player}: none of {ATTEMPTS} deals allows what was done")

    def _after(self, deal: Deal) -> HandState:
        self._check_turn()
        history = replay(self._hand, deal)
        state = self.get_game().new_initial_state()
        for action in history:
            state.apply_action(action)
        return state

    def _check_turn(self) -> None:
        if self._hand.turn < 0:
            raise ValueError("only states in which a seat is to act can be dealt anew")


class HandObserver:
    """What a seat knows of a state, as a tensor and in words.

    Attributes:
        tensor: the pieces one after the other, float32.
        dict: the pieces by name, in their shapes; parts of `tensor`.
    """

    def __init__(self, game: HandGame, kind: pyspiel.IIGObservationType, params: Any) -> None:
        """Public and private knowledge, or one of them.

        Raises:
            ValueError: there are parameters, or the knowledge of all players is wanted.
        """
        if params:
            raise ValueError(f"observations have no parameters, not {params!r}")
        if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError("observations hold the knowledge of one player, not of all")
        self._public = kind.public_info
        self._private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._layout = game.table.layout
        self._whole = np.zeros(self._layout.size, np.float32)
        pieces = [piece for piece in self._layout.pieces if self._is_shown(piece.name)]
        self.tensor = np.zeros(sum(piece.size for piece in pieces), np.float32)
        self.dict, start = {}, 0
        for piece in pieces:
            self.dict[piece.name] = self.tensor[start : start + piece.size].reshape(piece.shape)
            start += piece.size

    def _is_shown(self, name: str) -> bool:
        return self._private if name in PRIVATE else self._public

    def set_from(self, state: HandState, player: int) -> None:
        """Write what the player knows into the tensor; zeros until the deal is complete."""
        hand = state._hand
        if not hand.is_dealt:
            self.tensor.fill(0)
            return
        write_observation(hand.states[0], player, self._layout.offsets, self._whole)
        if self._public and self._private:
            self.tensor[:] = self._whole
            return
        for name, values in self.dict.items():
            values[:] = self._layout.array(self._whole, name)

    def string_from(self, state: HandState, player: int) -> str:
        """What the player knows, in words."""
        return state._hand.told(player, self._public, self._private)


class HandGame(pyspiel.Game):
    """One of the two games, at a table with such parameters.

    Attributes:
        table: what is the same in all hands.
    """

    def __init__(self, name: str, params: dict[str, Any] | None = None) -> None:
        """Check the parameters, "beast" or "bestia" being the name.

        Raises:
            ValueError: one has a value that is not allowed.
        """
        check_parameters(GAMES[name], params or {})
        chosen = parameters(GAMES[name]) | (params or {})
        self.table = table_of(name, tuple(sorted(chosen.items())))
        super().__init__(_game_type(name, self.table.is_equity), self._info(), params or {})

    def _info(self) -> pyspiel.GameInfo:
        table = self.table
        least, greatest = table.utility_bounds()
        return pyspiel.GameInfo(
            num_distinct_actions=table.game.num_actions,
            max_chance_outcomes=table.game.pack.size,
            num_players=table.num_players,
            min_utility=least,
            max_utility=greatest,
            utility_sum=0.0 if table.is_equity else None,
            max_game_length=table.most_moves,
        )

    def new_initial_state(self) -> HandState:
        """A hand before its first card."""
        return HandState(self)

    def max_chance_nodes_in_history(self) -> int:
        """No hand has more moves of chance."""
        return self.table.most_chances

    def make_py_observer(
        self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: Any = None
    ) -> HandObserver:
        """An observer, of public and private knowledge unless another kind is wanted."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return HandObserver(self, kind, params)


def _game_type(name: str, is_equity: bool) -> pyspiel.GameType:
    """What OpenSpiel wants to know of a game."""
    game, kinds = GAMES[name], pyspiel.GameType
    return kinds(
        short_name=f"python_{name}",
        long_name=f"Python {name.title()}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if is_equity else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=game.player_counts[-1],
        min_num_players=MIN_PLAYERS,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=parameters(game),
    )


class BeastGame(HandGame):
    """Beast."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        super().__init__("beast", params)


class BestiaGame(HandGame):
    """Bestia."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        super().__init__("bestia", params)


pyspiel.register_game(_game_type("beast", True), BeastGame)
pyspiel.register_game(_game_type("bestia", True), BestiaGame)


def load_reduction(name: str, **params: Any) -> pyspiel.Game:
    """The game of a reduction of `bestia_env.reductions`, such as "beast2-tiny".

    Args:
        name: of the reduction.
        params: further parameters, which replace those of the reduction.

    Raises:
        ValueError: there is no such reduction, or a parameter has a value that is not allowed.
    """
    reduction = reduction_named(name)
    chosen = {"players": reduction.num_players, **asdict(reduction.rules), **params}
    check_parameters(GAMES[reduction.game], chosen)
    return pyspiel.load_game(f"python_{reduction.game}", chosen)
