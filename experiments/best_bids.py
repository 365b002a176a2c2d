"""The best bids against those of a table, the cards played as the table has them played.

One seat's bids are best when all its others bid by the table. They are exact for the deals on which
they are chosen, and on others differ from the table's only where these deals speak clearly for it
(`agents.bids.gaps`).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from bestia_env.files import read_arrays, write_arrays
from experiments.command_line import hands_progress

if TYPE_CHECKING:
    from agents.bids.table import BidTable
    from agents.bids.traversal import Sums

FIRST = 2 * 10**12  # the first deal: tables are learnt and judged on others
PART = 5_000  # deals between which it may be stopped
SAVE_EVERY = 20.0  # seconds
MAX_BYTES = 1 << 28


def best_bids(table: BidTable, num_deals: int, seed: int, folder: Path) -> Path:
    """Choose them, or go on with it, or find it done.

    Args:
        table: bids for all the others.
        num_deals: on which they are chosen.
        seed: of the deals and of all chances.
        folder: for these bids alone; made if it is missing.

    Returns:
        The file of a table, which plays as `bids:FILE`.

    Raises:
        ValueError: what is in the folder is damaged.
    """
    from agents.bids.gaps import response
    from agents.bids.solver import Game
    from agents.bids.table import ENDING, BidTable, chances_of, load_table, rounded, save_table
    from agents.duplicate import Table

    path = folder / f"best{ENDING}"
    if path.exists():
        load_table(path, table.game, table.num_players)
        return path
    folder.mkdir(parents=True, exist_ok=True)
    game = Game(Table(table.game, table.num_players, seed=seed), table.card_player)
    chances = chances_of(table).reshape(game.shape)
    file = folder / "sums.npz"
    done, sums = _load(file, chances.size, game.agents)
    saved = time.perf_counter()
    with hands_progress(num_deals, "deals") as progress:
        progress(done)
        while done < num_deals:
            stop = min(done + PART, num_deals)
            sums = sums.plus(game.walk(chances, FIRST + done, FIRST + stop))
            progress(stop - done)
            done = stop
            if time.perf_counter() - saved > SAVE_EVERY:
                write_arrays(file, done=done, **sums._asdict())
                saved = time.perf_counter()
    shares = rounded(response(game, sums, chances))
    facts = {"answers": table.facts, "deals": num_deals, "seed": seed}
    save_table(path, BidTable(table.game, table.num_players, table.cards, shares, facts))
    return path


def _load(path: Path, entries: int, agents: int) -> tuple[int, Sums]:
    """How many deals were walked through, and what was found in them."""
    from agents.bids.traversal import Sums

    nothing = Sums.nothing(entries, agents)
    try:
        parts = read_arrays(path, MAX_BYTES)
        done, sums = int(parts.pop("done")), Sums(**parts)
    except FileNotFoundError:
        return 0, nothing
    except (KeyError, TypeError):
        raise ValueError(f"{path} is damaged: delete it") from None
    if any(part.shape != room.shape for part, room in zip(sums, nothing, strict=True)):
        raise ValueError(f"{path} is of another table: delete it")
    return done, sums
