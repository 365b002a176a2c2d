from random import Random

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import ismcts, mcts

from agents.openspiel import world_resampler
from bestia_env.openspiel import load_reduction
from tests.sessions import TABLES
from tests.test_openspiel import game_string, random_state

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

REDUCED = ("beast3-large", "bestia2-medium", "bestia3-large")
GAMES = {f"{name}-{n}": game_string(name, players=n, dealer=-1) for name, n in TABLES}


@pytest.mark.parametrize("name", [*GAMES, *REDUCED])
def test_resampled_states_are_alike_to_the_player(name: str) -> None:
    game = load_reduction(name) if name in REDUCED else pyspiel.load_game(GAMES[name])
    players, resample = game.num_players(), world_resampler(seed=1)
    rng = Random(players)
    for _ in range(6):
        state = random_state(rng, game, rng.randrange(5 * players))
        for seat in range(players):
            other = resample(state, seat)
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert [m.player for m in other.full_history()] == [
                m.player for m in state.full_history()
            ]


def test_search_of_openspiel_takes_the_resampler() -> None:
    game = pyspiel.load_game("python_beast")
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 30, random_state=np.random.RandomState(2))
    bot.set_resampler(world_resampler(seed=1))
    state = random_state(Random(3), game, 20)
    assert bot.step(state) in state.legal_actions()
