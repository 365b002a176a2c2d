"""The solvers: against plain recursion, and what must hold of any solution."""

import math
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from agents.solve.coalition import _solve, solve_coalition, solve_coalition_batch
from agents.solve.corpus import Measured
from agents.solve.maxn import solve_maxn, solve_maxn_batch
from agents.solve.partitions import note_holders
from agents.solve.search import make_room, slot_of
from agents.solve.values import card_values, solve
from bestia_env.engine import act, legal_actions
from bestia_env.games import GAMES
from bestia_env.view import look
from tests.sessions import EVERY, Table, members, random_session, walk

MOST_LINES = 1500


def endings(
    game: str, n: int, count: int, most_lines: int = MOST_LINES, reduced: bool = False
) -> Iterator[np.ndarray]:
    """Late moments of random hands under random rules, few enough lines of play to try them all."""
    rng = Random(f"{game} {n} {reduced}")
    while count:
        table = Table(random_session(rng, game, n, num_hands=2, reduced=reduced))
        tricks = (table.states.copy() for _ in walk(table, rng) if table.phase == "TRICKS")
        moments = [state for state in tricks if lines(state) <= most_lines]
        if moments:
            count -= 1
            yield rng.choice(moments)


def lines(state: np.ndarray) -> int:
    """An upper bound of how many ways the cards can be played in."""
    return math.prod(math.factorial(len(members(int(hand)))) for hand in state[0].hands)


def children(state: np.ndarray) -> dict[int, np.ndarray]:
    """What each legal card leads to."""
    after = {}
    for card in sorted(members(int(legal_actions(state, 0)))):
        after[card] = state.copy()
        act(after[card], 0, card)
    return after


def scores_of(state: np.ndarray) -> tuple[int, ...]:
    """n times the equity of a settled hand (B-18)."""
    s, n = state[0], int(state[0].num_players)
    return tuple(n * int(s.gains[seat]) + int(s.pot) - int(s.carried) for seat in range(n))


def each_for_itself(state: np.ndarray) -> tuple[int, ...]:
    """The scores of max^n by recursion."""
    if state[0].turn < 0:
        return scores_of(state)
    turn, n = int(state[0].turn), int(state[0].num_players)
    order = [(turn + k) % n for k in range(1, n)]
    found = [each_for_itself(after) for after in children(state).values()]
    return max(found, key=lambda scores: (scores[turn], [-scores[seat] for seat in order]))


def against_all(state: np.ndarray, seat: int) -> int:
    """The seat's score against a coalition by recursion."""
    if state[0].turn < 0:
        return scores_of(state)[seat]
    found = [against_all(after, seat) for after in children(state).values()]
    return max(found) if state[0].turn == seat else min(found)


def slow_if_large(table: tuple[str, int, bool]) -> object:
    return pytest.param(*table, marks=[pytest.mark.slow] if table[1] > 5 or table[2] else [])


@pytest.mark.parametrize(("game", "n", "reduced"), [slow_if_large(table) for table in EVERY])
def test_solutions_are_those_of_plain_recursion(game: str, n: int, reduced: bool) -> None:
    room = make_room(game, n, slot_bits=6)
    for state in endings(game, n, 12, reduced=reduced):
        unit, before = n * int(state[0].pot), state.tobytes()
        solution = solve(state, room=room)
        true = {card: each_for_itself(after) for card, after in children(state).items()}
        assert {c: v.tolist() for c, v in solution.values.items()} == {
            card: [score / unit for score in scores] for card, scores in true.items()
        }
        assert solution.value.tolist() == [score / unit for score in each_for_itself(state)]
        turn = int(state[0].turn)
        top = max(scores[turn] for scores in true.values())
        assert solution.best == tuple(c for c, scores in true.items() if scores[turn] == top)
        for seat in {turn, (turn + 1) % n, (turn + n - 1) % n}:
            single = solve(state, seat, "all", room)
            worth = {card: against_all(after, seat) for card, after in children(state).items()}
            assert {c: v[0] for c, v in single.values.items()} == {
                card: score / unit for card, score in worth.items()
            }
            top = (max if seat == turn else min)(worth.values())
            assert single.value[0] == top / unit
            assert single.best == tuple(card for card, score in worth.items() if score == top)
            assert single.num_nodes > 0
        assert state.tobytes() == before


def test_a_full_table_is_solved_as_by_plain_recursion() -> None:
    """Two tricks of six players, in which a seat of either side may come level, or first."""
    room = make_room("beast", 6, slot_bits=6)
    for state in endings("beast", 6, 6):
        for seat in range(6):
            worth = {c: against_all(after, seat) for c, after in children(state).items()}
            single = solve(state, seat, "all", room)
            unit = 6 * int(state[0].pot)
            assert {c: v[0] * unit for c, v in single.values.items()} == pytest.approx(worth)


def longer_endings(game: str, n: int, count: int) -> Iterator[np.ndarray]:
    """As `endings`, for what is asked of the solvers alone."""
    return endings(game, n, count, most_lines=24**4)


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("bestia", 3), ("bestia", 4), ("bestia", 7)])
def test_a_position_is_worth_what_its_best_card_leads_to(game: str, n: int) -> None:
    """Solved each by itself; all sums are zero (B-18)."""
    for state in longer_endings(game, n, 10):
        solution, turn = solve(state), int(state[0].turn)
        assert abs(solution.value.sum()) < 1e-9 * max(1, abs(solution.value).max())
        for card, after in children(state).items():
            if after[0].turn >= 0:
                assert np.array_equal(solution.values[card], solve(after).value)
                for seat in range(n):
                    alone = card_values(state, seat, "all")[card]
                    assert alone == solve(after, seat, "all").value[0]
        assert solution.value[turn] == max(values[turn] for values in solution.values.values())


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("bestia", 3), ("bestia", 4), ("bestia", 7)])
def test_nobody_has_less_when_the_others_do_not_combine(game: str, n: int) -> None:
    """Whatever they play for themselves the coalition could have played, too."""
    gained = 0
    for state in longer_endings(game, n, 20):
        each = solve(state)
        for seat in range(n):
            alone = solve(state, seat, "all")
            assert alone.value[0] <= each.value[seat]
            gained += alone.value[0] < each.value[seat]
    assert gained > 0


def renamed(state: np.ndarray, order: list[int]) -> np.ndarray:
    """The same hand with every suit called by another's name."""
    game = next(game for game in GAMES.values() if game.dtype == state.dtype)
    ranks = len(game.pack.ranks)
    new = [order[card // ranks] * ranks + card % ranks for card in range(game.pack.size)]
    other = state.copy()
    for name in ("led", "best"):
        if state[0][name] >= 0:
            other[0][name] = new[state[0][name]]
    other[0].trump = order[state[0].trump]
    for seat, hand in enumerate(state[0].hands.tolist()):
        other[0].hands[seat] = sum(1 << new[card] for card in members(hand))
    other[0].play_card = [new[card] for card in state[0].play_card]
    return other


@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("bestia", 3), ("bestia", 5)])
def test_names_of_suits_do_not_matter(game: str, n: int) -> None:
    rng = Random(n)
    for state in longer_endings(game, n, 10):
        order = rng.sample(range(4), 4)
        other = renamed(state, order)
        assert np.array_equal(solve(state).value, solve(other).value)
        ranks = GAMES[game].pack.size // 4
        for against in ("each", "all"):
            mine, others = card_values(state, None, against), card_values(other, None, against)
            for card, values in mine.items():
                assert np.array_equal(values, others[order[card // ranks] * ranks + card % ranks])


@pytest.mark.slow
@pytest.mark.parametrize(("game", "n"), [("beast", 4), ("beast", 5), ("bestia", 4)])
def test_positions_met_before_are_worth_the_same(game: str, n: int) -> None:
    """A table of one slot remembers next to nothing."""
    large, none = make_room(game, n), make_room(game, n, slot_bits=0)
    for state in endings(game, n, 60, most_lines=120**4):
        if state[0].revoke_allowed:
            continue  # too many ways to play
        assert np.array_equal(solve(state, room=large).value, solve(state, room=none).value)
        for seat in range(n):
            mine, other = (solve(state, seat, "all", room).values for room in (large, none))
            assert mine == other


def test_one_room_serves_any_number_of_hands() -> None:
    """Nothing of one search, for another seat too, is taken for part of the next."""
    room = make_room("bestia", 4, slot_bits=4)
    root, again = np.zeros(40, np.int64), np.zeros(40, np.int64)
    for state in longer_endings("bestia", 4, 10):
        for seat in range(4):
            num_nodes = solve_coalition(state, 0, seat, room, root)
            fresh = solve_coalition(state, 0, seat, make_room("bestia", 4, slot_bits=4), again)
            assert num_nodes == fresh
            cards = [card for card in range(40) if int(legal_actions(state, 0)) >> card & 1]
            assert np.array_equal(root[cards], again[cards])


# Cards played and checksum of all values: a change of either says what was changed in the search.
GOLDEN = [
    ("bestia", 4, "each", 1000, 0, 98218, 2407750285),
    ("bestia", 4, "all", 1000, 0, 63205, 2103318154),
    ("beast", 4, "each", 1000, 0, 907132, 1211991171),
    ("beast", 4, "all", 1000, 0, 274625, 1901562053),
    ("beast", 4, "all", 1000, 1, 281483, 1078847071),
    ("beast", 4, "all", 1000, 2, 288552, 1574066249),
    ("beast", 4, "all", 1000, 3, 277374, 3505825228),
    ("beast", 5, "all", 60, 0, 217375, 1387725468),
    ("beast", 6, "all", 5, 0, 34099, 2901330008),
]


@pytest.mark.parametrize(
    ("game", "n", "against", "count", "after", "num_nodes", "checksum"), GOLDEN
)
def test_the_corpus_is_solved_as_before(
    game: str, n: int, against: str, count: int, after: int, num_nodes: int, checksum: int
) -> None:
    measured = Measured(game, n, against, count, after)
    measured.solve()
    assert (measured.num_nodes, measured.checksum) == (num_nodes, checksum)


def test_all_of_the_past_tells_positions_apart() -> None:
    """Who leads, everybody's tricks, who has revoked, and who first had the most tricks."""
    measured = Measured("beast", 5, "all", 1)
    measured.solve()
    f, keys, slots = measured.room.frames[0], set(), set()
    pasts = [1 << bit for bit in (0, 3, 6, 9, 12, 24, 27, 60, 61, 62)]
    measured.room.facts[0].few = False
    for turn in range(5):
        for past in pasts:
            f.turn, f.past = turn, past
            note_holders(measured.room, f)
            keys.add(int(f.key))
            slot_of(measured.room, f)
            slots.add(int(f.key))
    assert len(keys) == len(slots) == 5 * len(pasts)


@pytest.mark.parametrize("game", GAMES)
def test_many_states_are_solved_as_one(game: str) -> None:
    """For seats of any integer type, without another search compiled for each."""
    rng, size = Random(game), GAMES[game].pack.size
    states = np.concatenate(list(endings(game, 4, 20)))
    seats = np.array([rng.randrange(4) for _ in states], np.int8)
    room = make_room(game, 4)
    mine, each = np.zeros((20, size), np.int64), np.zeros((20, size, 4), np.int64)
    roots, each_roots = np.zeros_like(mine), np.zeros_like(each)
    num_nodes = solve_coalition_batch(states, seats, room, roots)
    each_nodes = solve_maxn_batch(states, room, each_roots)
    compiled = len(getattr(_solve, "signatures", ()))
    for i in range(20):
        num_nodes -= solve_coalition(states, i, seats[i], room, mine[i])
        num_nodes -= solve_coalition(states, i, int(seats[i]), room, mine[i])
        num_nodes += solve_coalition(states, i, np.int16(seats[i]), room, mine[i])
        each_nodes -= solve_maxn(states, i, room, each[i])
    assert (num_nodes, each_nodes) == (0, 0)
    assert np.array_equal(mine, roots) and np.array_equal(each, each_roots)
    assert len(getattr(_solve, "signatures", ())) <= compiled + 1


def test_what_cannot_be_solved_is_refused() -> None:
    state = next(endings("bestia", 4, 1))
    turn = int(state[0].turn)
    view = state.copy()
    look(state, 0, turn, view, 0)
    over = state.copy()
    while over[0].turn >= 0:
        act(over, 0, min(members(int(legal_actions(over, 0)))))
    for message, place, seat, against in [
        (f"view of seat {turn}", view, None, "each"),
        ("in the phase TRICKS, not OVER", over, None, "each"),
        ("seat must be from 0 to 3, not 4", state, 4, "all"),
        ("against must be one of each, all, not 'some'", state, None, "some"),
        (r"shape \(1,\), not \(2,\)", state.repeat(2), None, "each"),
        ("records of beast or bestia", np.zeros(1), None, "each"),
    ]:
        with pytest.raises(ValueError, match=message):
            card_values(place, seat, against)
    for seat in (1.0, True):
        with pytest.raises(ValueError, match=f"seat must be from 0 to 3, not {seat}"):
            card_values(state, seat)  # type: ignore[arg-type]
    for bits in (29, 1.5, True, None):
        with pytest.raises(ValueError, match=f"slot_bits must be an integer .* to 28, not {bits}"):
            make_room("bestia", 4, bits)  # type: ignore[arg-type]
    for room in (make_room("bestia", 3, 1), make_room("bestia", 5, 1), make_room("beast", 4, 1)):
        with pytest.raises(ValueError, match="room must be of bestia with 4 players"):
            solve(state, room=room)
