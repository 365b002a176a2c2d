"""OpenSpiel measures what agents.equilibria measures, in the same games told in another way."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.algorithms import exploitability as openspiel

from agents.equilibria.best_response import exploitability
from agents.equilibria.cfr import Solver
from agents.equilibria.growth import Grown, find_sets, grow, opening
from agents.equilibria.seating import exchanged_actions, normal_form
from bestia_env.openspiel import HandState

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

GAMES = (
    "python_beast(players=2,ranks=2,suits=2,cards=1,dealer=1)",
    "python_bestia(players=2,ranks=2,suits=2,cards=1,dealer=1)",
    "python_bestia(players=2,ranks=2,suits=2,cards=1,dealer=0,pot=6,all_pass=dealer_takes)",
)
SLOW = (
    "python_beast(players=2,ranks=3,suits=2,cards=2,dealer=1,revoke=penalty)",
    "python_beast(players=3,ranks=2,suits=2,cards=1,dealer=2)",
    "python_bestia(players=3,ranks=2,suits=2,cards=1,dealer=2)",
    "python_bestia(players=2,ranks=3,suits=2,cards=2,stake=6,dealer=1)",
)


class TablePolicy(policies.Policy):
    """A behaviour of a tree of agents.equilibria, as a policy of OpenSpiel."""

    def __init__(self, game: pyspiel.Game, grown: Grown, table: np.ndarray) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._grown, self._table = grown, table
        self._opening = opening(game.table.game.name, game.num_players(), game.table.rules)
        self._known: dict[str, dict[int, float]] = {}

    def action_probabilities(
        self, state: HandState, player_id: int | None = None
    ) -> dict[int, float]:
        told = state.information_state_string()
        if told not in self._known:
            self._known[told] = self._look_up(state)
        return self._known[told]

    def _look_up(self, state: HandState) -> dict[int, float]:
        actions, sets = np.array(state.legal_actions()), np.zeros(1, np.int64)
        if actions.size == 1:
            return {int(actions[0]): 1.0}
        view, tree = state.view(state.current_player()), self._grown.tree
        find_sets(self._grown.index, normal_form(view, self._opening), sets)
        slots = slice(tree.first_slot[sets[0]], tree.first_slot[sets[0] + 1])
        chances = dict(zip(tree.slot_action[slots].tolist(), self._table[slots], strict=True))
        trumps = np.full(actions.size, view["trump"][0], np.int64)
        alike = exchanged_actions(actions, trumps, view["pack"].shape[1])
        return {int(a): chances[int(b)] for a, b in zip(actions, alike, strict=True)}


def check(text: str, rounds: int) -> None:
    game = pyspiel.load_game(text)
    n, dealer = game.num_players(), game.get_parameters()["dealer"]
    grown = grow(game.table.game.name, n, game.table.rules)
    solver = Solver(grown.tree)
    solver.run(rounds)
    turned = [(seat - dealer - 1) % n for seat in range(n)]  # their last seat deals
    for table in (grown.tree.uniform(), solver.average()):
        policy, found = TablePolicy(game, grown, table), exploitability(grown.tree, table)
        measured = openspiel.nash_conv(game, policy, return_only_nash_conv=False)
        if game.get_parameters()["pot"] == 0:
            start = game.new_initial_state()
            values = expected_game_score.policy_value(start, [policy] * n)
            assert values == pytest.approx([found.values[seat] for seat in turned], abs=1e-9)
        gains = [found.gains[seat] for seat in turned]
        assert measured.player_improvements == pytest.approx(gains, abs=1e-9)
        assert measured.nash_conv == pytest.approx(found.nash_conv, abs=1e-9)


@pytest.mark.parametrize("text", GAMES)
def test_openspiel_measures_the_same(text: str) -> None:
    check(text, rounds=30)


@pytest.mark.slow
@pytest.mark.parametrize("text", SLOW)
def test_openspiel_measures_the_same_in_larger_games(text: str) -> None:
    check(text, rounds=200)
