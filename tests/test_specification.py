"""The environments' docstrings are the specification, so they must say what the code does."""

from dataclasses import fields
from types import ModuleType

import pytest

from bestia_env import beast_v0, bestia_v0
from bestia_env.games import GAMES
from bestia_env.observe import layout

MODULES = {"beast": beast_v0, "bestia": bestia_v0}
BY_SEAT = (
    *("to_act", "dealer", "winning", "tricks", "voids", "said", "countered", "auction", "offer"),
    "playing",
)


def observation_table(game: str) -> str:
    table = layout(game, 4)
    rows = ["| Piece | Shape | Meaning | With 4 players at |", "|---|---|---|---|"]
    for piece in table.pieces:
        place = table.slices[piece.name]
        rows.append(
            f"| {piece.name} | {_shape(game, piece)} | {_general(game, piece.meaning)} "
            f"| {place.start}–{place.stop - 1} |"
        )
    counts = GAMES[game].player_counts
    sizes = [str(layout(game, n).size) for n in counts]
    listed = f"{', '.join(sizes[:-1])} and {sizes[-1]}"
    return "\n".join([*rows, "", f"D is {listed} for {counts[0]} to {counts[-1]} players."])


def _shape(game: str, piece) -> str:
    sizes = list(map(str, piece.shape))
    if piece.name in BY_SEAT:
        sizes[0] = "n"
    if piece.name == "leaders":
        sizes = ["n+1" if game == "beast" else "3", "n"]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _general(game: str, meaning: str) -> str:
    """The words for 4 players as those for n."""
    return (
        meaning.replace("k / 20", "k / (n * (n+1))")
        .replace("k / 12", "k / (3 * n)")
        .replace("by each seat / 5", "by each seat / (n+1)")
    )


@pytest.mark.parametrize("game", MODULES)
def test_the_observation_is_laid_out_as_specified(game: str) -> None:
    assert observation_table(game) in (MODULES[game].__doc__ or "")


@pytest.mark.parametrize("game", MODULES)
def test_every_option_is_specified_with_its_default(game: str) -> None:
    text = MODULES[game].__doc__ or ""
    for option in fields(GAMES[game].rules):
        default = f'"{option.default}"' if isinstance(option.default, str) else option.default
        assert f"| `{option.name}` | `{default}` |" in text


@pytest.mark.parametrize("game", MODULES)
def test_every_action_and_argument_is_specified(game: str) -> None:
    module: ModuleType = MODULES[game]
    text = module.__doc__ or ""
    for action in GAMES[game].actions:
        assert f"{int(action)} {action.name}" in text
    for keyword in ("num_players", "rules", "num_hands", "reward", "render_mode", "obs_key"):
        assert f"| `{keyword}` |" in text
