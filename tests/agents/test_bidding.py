"""Bidding rules: what they mean, by a slow evaluator of its own, and what is said of bad ones."""

import pickle
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.arena import compare
from agents.baselines.beast import declared_chance
from agents.baselines.bestia import chance_of_new_cards, chance_of_trick
from agents.bidding.language import is_rule, parse_expressions, parse_rule
from agents.bidding.machine import MODULES, STACK, decide, evaluate, is_bid
from agents.duplicate import Piece, Table, play_piece
from agents.matches import play
from agents.policies import parse_policy
from agents.reports import picture, print_tables
from bestia_env.engine import new_states, random_legal, start_sessions
from bestia_env.rng import seed_sequence_keys
from bestia_env.rules.beast import BeastRules
from bestia_env.rules.bestia import BestiaRules
from bestia_env.rules.dispatch import apply, legal
from bestia_env.view import look
from tests.rules import hands
from tests.rules.hands import pack_order

ROOT = Path(__file__).parents[2]
PLAYERS = {"beast": range(4, 7), "bestia": range(3, 11)}
TABLES = [(game, n) for game in PLAYERS for n in PLAYERS[game]]
RANKS = {
    "beast": "2 3 4 5 6 7 8 9 10 jack queen king ace".split(),
    "bestia": "2 4 5 6 7 fante cavallo re 3 ace".split(),
}
ACTIONS = {
    "beast": {"leave": 52, "take": 53, "pass": 54, "play": 55, "counter": 56, "show": 57},
    "bestia": {"pass": 40, "knock": 41, "refuse": 42, "exchange": 43},
}
HAND = "trumps sides voids sure_tricks".split()
HAND_RANKS = "top_trump second_trump third_trump top_side".split()
OPEN = "seat behind players pot match random chance passes".split()
OWN = {"beast": ["taken", "player_seat"], "bestia": ["knocks", "exchanges"]}


# A slow evaluator: rules as Python, over facts read from lists of cards.


class Chances:
    """SplitMix64 on Python's integers."""

    def __init__(self, state):
        self.state = int(state)

    def unit(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return ((z ^ z >> 31) >> 11) / 2**53


def members(bits):
    return [k for k in range(64) if int(bits) >> k & 1]


def sure(mine, others):
    """Trumps less the largest pairing of others' trumps with lower ones of mine, by brute force."""
    paired = {}

    def find(higher, tried):
        for low in mine:
            if low < higher and low not in tried:
                tried.add(low)
                if low not in paired or find(paired[low], tried):
                    paired[low] = higher
                    return True
        return False

    return len(mine) - sum(find(higher, set()) for higher in others)


class Facts:
    """What a seat knows, each feature by its name."""

    def __init__(self, game, v, rng):
        n, ranks = int(v.num_players), len(RANKS[game])
        me, dealer, trump = int(v.viewer), int(v.dealer), int(v.trump)
        order = [(dealer + k) % n for k in range(1, n + 1)]
        held = members(v.hands[me])
        self.rng = rng
        self.trump_ranks = sorted((c % ranks for c in held if c // ranks == trump), reverse=True)
        self.side_ranks = [c % ranks for c in held if c // ranks != trump]
        self.trumps, self.sides = len(self.trump_ranks), len(self.side_ranks)
        tops = [*self.trump_ranks, -1, -1, -1]
        self.top_trump, self.second_trump, self.third_trump = tops[:3]
        self.top_side = max(self.side_ranks, default=-1)
        self.voids = 4 - len({c // ranks for c in held})
        self.seat, self.players, self.upcard = order.index(me), n, int(v.upcard) % ranks
        self.match = min(int(v.pot), int(v.match_limit)) / int(v.pot)
        out = {c for c in range(4 * ranks) if c // ranks == trump} - set(held)
        getattr(self, f"_{game}")(v, me, order, out)
        self.sure_tricks = sure(self.trump_ranks, [c % ranks for c in out])

    def _beast(self, v, me, order, out):
        if v.upcard_is == 1:
            out.discard(int(v.upcard))
        if me == v.dealer:
            out.difference_update(members(v.discard))
        self.pot = int(v.pot) / (2 * self.players + 1)
        self.chance = declared_chance(v)
        self.taken = int(v.upcard_is == 2)
        self.player_seat = order.index(int(v.player)) if v.player >= 0 else -1
        heard = v.countered if v.phase == 4 else v.said
        self.passes = sum(int(heard[seat]) == 1 for seat in order)
        asked = {3: order, 4: [seat for seat in order if seat != v.player]}.get(int(v.phase), [me])
        self.behind = sum(int(heard[seat]) == 0 for seat in asked) - 1

    def _bestia(self, v, me, order, out):
        out.discard(int(v.upcard))
        self.pot = int(v.pot) / int(v.stake)
        self.chance = (chance_of_trick, chance_of_new_cards)[v.phase](v)
        sets = (v.knocked, v.passed, v.exchanged, v.refused)
        knocked, passed, exchanged, refused = (members(seats) for seats in sets)
        self.knocks, self.passes, self.exchanges = len(knocked), len(passed), len(exchanged)
        later = order[self.seat + 1 :]
        self.behind = len([s for s in later if v.phase == 0 or s in passed])
        assert not set(later) & {*exchanged, *refused}

    @property
    def random(self):
        return self.rng.unit()

    def trumps_from(self, rank):
        return sum(held >= rank for held in self.trump_ranks)

    def sides_from(self, rank):
        return sum(held >= rank for held in self.side_ranks)


def chain(values, signs):
    """No short cuts: each `random` draws."""
    tests = {
        **{"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b},
        **{"!=": lambda a, b: a != b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b},
    }
    links = [tests[sign](a, b) for sign, a, b in zip(signs, values, values[1:])]
    return all(links)


def over(a, b):
    return a / b if b else 0


class Writer:
    """Random rules, each in the language and in Python, with no more parentheses than needed."""

    def __init__(self, rng, game):
        self.rng, self.game = rng, game

    def rule(self):
        """(text, [(action, code)])."""
        statements = [self.statement() for _ in range(self.rng.randint(1, 4))]
        text = self.rng.choice(["; ", "\n", ";\n ", " # so; or so\n"]).join(
            self.rng.choice(["", "else "]) + text for text, _, _ in statements
        )
        return text, [(action, compile(code, text, "eval")) for _, action, code in statements]

    def statement(self):
        word = self.rng.choice(list(ACTIONS[self.game]))
        self.blind = word in ("take", "leave")
        if self.rng.random() < 0.1:
            return word, ACTIONS[self.game][word], "True"
        text, code, _ = self.condition(self.rng.randint(0, 3))
        return f"{word} if {text}", ACTIONS[self.game][word], code

    def within(self, part, least):
        text, code, level = part
        return (f"({text})" if level < least or self.rng.random() < 0.1 else text), code

    def condition(self, depth):
        kind = self.rng.choice(["or", "and", "not", "ranks", "numbers"]) if depth else "numbers"
        if kind in ("or", "and"):
            level = kind == "and"
            a, a_code = self.within(self.condition(depth - 1), level)
            b, b_code = self.within(self.condition(depth - 1), level + 1)
            return f"{a} {kind} {b}", f"(({a_code}) {'&' if level else '|'} ({b_code}))", level
        if kind == "not":
            a, a_code = self.within(self.condition(depth - 1), 2)
            return f"not {a}", f"(not ({a_code}))", 2
        return self.comparison(self.rank if kind == "ranks" else lambda: self.number(depth))

    def comparison(self, draw):
        count = self.rng.choice([2, 2, 2, 3, 4])
        parts = [self.within(draw(), 4) for _ in range(count)]
        if draw == self.rank:
            parts[self.rng.randrange(count)] = self.within(self.named_rank(), 4)
        signs = [self.rng.choice(["<", "<=", "==", "!=", ">=", ">"]) for _ in parts[1:]]
        text = " ".join(x for pair in zip([p[0] for p in parts], [*signs, ""]) for x in pair)
        codes = ", ".join(code for _, code in parts)
        return text.strip(), f"chain([{codes}], {signs})", 3

    def named_rank(self):
        name = self.rng.choice(["upcard"] if self.blind else ["upcard", *HAND_RANKS])
        return name, f"facts.{name}", 7

    def rank(self):
        if self.rng.random() < 0.5:
            return self.named_rank()
        strength = self.rng.randrange(-1, len(RANKS[self.game]))
        return ["none", *RANKS[self.game]][strength + 1], str(strength), 7

    def number(self, depth):
        kind = self.rng.choice("+-*/nm") if depth else "atom"
        if kind == "n":
            a, a_code = self.within(self.number(depth - 1), 6)
            return f"-{a}", f"(-({a_code}))", 6
        if kind == "atom":
            return self.atom()
        a, b = self.number(depth - 1), self.number(depth - 1)
        if kind == "m":
            word = self.rng.choice(["min", "max"])
            return f"{word}({a[0]}, {b[0]})", f"{word}({a[1]}, {b[1]})", 7
        level = 4 + (kind in "*/")
        (a, a_code), (b, b_code) = self.within(a, level), self.within(b, level + 1)
        code = f"over({a_code}, {b_code})" if kind == "/" else f"(({a_code}) {kind} ({b_code}))"
        return f"{a} {kind} {b}", code, level

    def atom(self):
        kind = self.rng.choice(["numeral", "counted", "name", "name"])
        if kind == "numeral":
            text = self.rng.choice(["0", "1", "2", "3", "7", "0.5", ".25", "10.0"])
            return text, text, 7
        if kind == "counted" and not self.blind:
            name, strength = self.rng.choice(HAND[:2]), self.rng.randrange(len(RANKS[self.game]))
            text = f"{name}({RANKS[self.game][strength]})"
            return text, f"facts.{name}_from({strength})", 7
        name = self.rng.choice([*OPEN, *OWN[self.game], *([] if self.blind else HAND)])
        return name, f"facts.{name}", 7


def slowly(game, statements, v, can, chances):
    """What a rule decides."""
    words, facts = ACTIONS[game], Facts(game, v, chances)
    said = {action for action, _ in statements}
    if words.get("show") in set(can) - said:
        return words["show"]
    scope = {"facts": facts, "chain": chain, "over": over, "min": min, "max": max}
    for action, code in statements:
        if action in can and eval(code, scope):
            return action
    quiet = ("leave", "pass", "play", "refuse")
    return next(words[w] for w in quiet if words.get(w) in can)


def generator(seed=0):
    return seed_sequence_keys(seed, 1)


def bids(game, num_players, num_hands, seed=0, pot=0, **options):
    """(view (1,), legal) at every bid of random play."""
    rules = (BeastRules if game == "beast" else BestiaRules)(**options)
    states, rng = new_states(game, num_players, rules), generator(seed)
    views = states.copy()
    for key in seed_sequence_keys(seed + 1, num_hands):
        start_sessions(states, np.array([key]), -1, pot)
        while states[0].turn >= 0:
            if is_bid(states[0]):
                look(states, 0, states[0].turn, views, 0)
                yield views, legal(states[0])
            apply(states[0], random_legal(states[0], rng))


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_rules_decide_as_a_slow_evaluator_does(game, num_players):
    writer, stack = Writer(Random(f"{game} {num_players}"), game), np.empty(STACK)
    rules = []
    for _ in range(90):
        text, statements = writer.rule()
        rules.append((text, parse_rule(text, game).program, statements))
    seen, limits = set(), {"match_limit": 3 * num_players}
    options = {"counter_order": "eldest", **limits} if game == "beast" else limits
    for pot, chosen in ((0, {}), (60, options)):
        for k, (view, can) in enumerate(bids(game, num_players, 25, pot=pot, **chosen)):
            v = view[0]
            for text, program, statements in [rules[(3 * k + j) % 90] for j in range(3)]:
                rng = generator(k)
                slow = Chances(rng[0])
                expected = slowly(game, statements, v, members(can), slow)
                assert decide(program, 0, v, can, rng, stack) == expected, text
                assert int(rng[0]) == slow.state, text
                seen.add((int(v.phase), expected))
    words = ACTIONS[game]
    if game == "bestia":
        assert seen == {(0, 40), (0, 41), (1, 42), (1, 43)}
    else:
        usual = {(0, "take"), (0, "leave"), (2, "play"), (3, "pass"), (3, "play"), (4, "pass")}
        assert {(phase, words[word]) for phase, word in usual} | {(4, words["counter"])} <= seen


# Each feature, at hands of known cards.


def ask(table, *texts):
    """The values of expressions for the seat to act."""
    states = table.env.unwrapped.states
    view, program = states.copy(), parse_expressions(texts, table.game.name).program
    look(states, 0, states[0].turn, view, 0)
    stack = np.empty(STACK)
    return [evaluate(program, k, view[0], generator(), stack) for k in range(len(texts))]


def check(table, facts):
    """Check facts such as "trumps 2, top_trump re"."""
    game = table.game.name
    for fact in facts.split(", "):
        name, value = fact.rsplit(" ", 1)
        rank = [*RANKS[game], "none"].index(value) if name in (*HAND_RANKS, "upcard") else None
        expected = float(value) if rank is None else -1 if value == "none" else rank
        assert ask(table, name) == [pytest.approx(expected)], (name, value)


def bestia(cards, upcard="2s", n=4, **options):
    """A table of Bestia where seat 1, first hand, holds these cards and trumps are spade."""
    order = pack_order("bestia", {1: cards}, upcard, n)
    return hands.Table("bestia", order, num_players=n, **options)


def beast(held, upcard="2s", n=4, **options):
    return hands.Table("beast", pack_order("beast", held, upcard, n), num_players=n, **options)


@pytest.mark.parametrize(
    ("cards", "upcard", "facts"),
    [
        ("Rs 3s Ac", "2s", "trumps 2, trumps(re) 2, trumps(3) 1, trumps(ace) 0, sides 1"),
        ("Rs 3s Ac", "2s", "top_trump 3, second_trump re, third_trump none, top_side ace"),
        ("Rs 3s Ac", "2s", "sides(ace) 1, sides(tre) 1, voids 2, upcard 2, sure_tricks 1"),
        ("Rs 3s Ac", "As", "sure_tricks 2, upcard ace"),
        ("Rs 3s 7s", "As", "sure_tricks 2, top_side none, third_trump 7, voids 3, sides(2) 0"),
        ("7s 6s 5s", "As", "sure_tricks 0, trumps(sette) 1, trumps(6) 2"),
        ("As 3s Rs", "2s", "sure_tricks 3, top_trump asso, sides 0"),
        ("4s 6c 3b", "Fs", "trumps 1, sides(6) 2, sides(donna) 1, top_side tre, voids 1"),
        ("2b 4c 5d", "Cs", "trumps 0, top_trump none, second_trump none, top_side 5, voids 1"),
        ("2b 4c 5d", "Cs", "upcard cavallo, sure_tricks 0, trumps(2) 0, sides(2) 3"),
    ],
)
def test_cards_held_in_bestia(cards, upcard, facts):
    synonyms = {"asso": "ace", "tre": "3"}
    for n in PLAYERS["bestia"]:
        words = re.sub(r"\b(asso|tre)(?=,|$)", lambda m: synonyms[m[0]], facts)
        check(bestia(cards, upcard, n), words)


@pytest.mark.parametrize(
    ("cards", "upcard", "facts"),
    [
        (
            "As Ks Qs Ah 2d",
            "2s",
            "trumps 3, trumps(queen) 3, trumps(king) 2, sides(ace) 1, sides 2",
        ),
        ("As Ks Qs Ah 2d", "2s", "top_trump ace, second_trump king, third_trump queen, voids 1"),
        ("As Ks Qs Ah 2d", "2s", "top_side ace, sure_tricks 3, upcard 2"),
        ("Ks Qs Js Ah 2d", "As", "sure_tricks 3, upcard ace"),
        ("Ks Qs Js Ah 2d", "2s", "sure_tricks 2"),
        ("10s 7s Kh Qd Jc", "9s", "trumps(7) 2, trumps(8) 1, sides(jack) 3, sides(queen) 2"),
        ("10s 7s Kh Qd Jc", "9s", "third_trump none, top_trump 10, voids 0, sure_tricks 0"),
        ("As Ks Qs Js 10s", "2s", "top_side none, sides 0, voids 3, sure_tricks 5"),
        ("2h 3h 4d 5d 6c", "9s", "top_trump none, trumps 0, top_side 6, voids 1"),
    ],
)
def test_cards_held_in_beast(cards, upcard, facts):
    check(beast({1: cards}, upcard).play("LEAVE"), facts)


def test_the_upcard_counts_for_whom_it_is_out_of_play():
    """Left: for all (B-08). Taken: for others it may be in a hand; the discard for the dealer."""
    cards = {1: "Ks Qs Js Ah 2d", 0: "Ac Kc Qc Jc 10c"}
    table = beast(cards, "As").play("TAKE As")
    check(table, "taken 1, trumps 0, sure_tricks 0, player_seat -1, passes 0, behind 0, seat 3")
    check(table.play("PLAY"), "taken 1, sure_tricks 2, player_seat 3, seat 0, behind 2")
    dealer = beast({0: "Ks Qs Js Ah 2d"}, "As")
    check(dealer.play("TAKE As"), "sure_tricks 3, trumps 3")
    check(beast({0: "Ks Qs Js Ah 2d"}, "As").play("TAKE 2d"), "sure_tricks 4, trumps 4")


def test_the_rounds_of_beast():
    table = beast({})
    check(table, "seat 3, behind 0, players 4, passes 0, taken 0, player_seat -1")
    assert ask(table, "chance") == [0.425]  # of a two taken
    for passes in range(4):
        table.play("LEAVE" if passes == 0 else "PASS")
        check(table, f"seat {passes}, behind {3 - passes}, passes {passes}, player_seat -1")
    table.play("PLAY")
    for passes in range(3):
        check(table, f"seat {passes}, behind {2 - passes}, passes {passes}, player_seat 3")
        table.play("PASS")
    table = beast({}).play("LEAVE PASS PLAY")
    check(table, "seat 2, behind 2, passes 0, player_seat 1")
    check(table.play("PASS PASS"), "seat 0, behind 0, passes 2, player_seat 1")


def test_the_rounds_of_bestia():
    table = bestia("As 3s Rs")
    check(table, "seat 0, behind 3, players 4, knocks 0, passes 0, exchanges 0, chance 1")
    check(table.play("PASS"), "seat 1, behind 2, knocks 0, passes 1")
    check(table.play("KNOCK"), "seat 2, behind 1, knocks 1, passes 1")
    check(table.play("PASS"), "seat 3, behind 0, knocks 1, passes 2")
    check(table.play("PASS"), "seat 0, behind 2, knocks 1, passes 3, exchanges 0, trumps 3")
    assert ask(table, "chance") == [0.64]
    check(table.play("EXCHANGE"), "seat 2, behind 1, exchanges 1, passes 3, chance 0.55")
    check(table.play("REFUSE"), "seat 3, behind 0, exchanges 1, passes 3")


def test_the_pot_and_what_it_costs():
    check(bestia("As"), "pot 1, match 1")
    check(bestia("As", pot=9), "pot 4, match 1")
    check(bestia("As", pot=9, match_limit=3), "pot 4, match 0.25")
    check(bestia("As", pot=12, stake=6), "pot 3, match 1")
    check(beast({}), "pot 1, match 1")
    check(beast({}, pot=27), "pot 3, match 1")
    check(beast({}, pot=27, match_limit=9), f"pot 3, match {1 / 3}")
    check(beast({}, n=6, pot=26), "pot 2, match 1")


def test_arithmetic():
    huge = f"{10**300} * {10**300}"
    texts = {
        **{"1 - 2 - 3": -4, "8 / 4 / 2": 1, "1 + 2 * 3": 7, "(1 + 2) * 3": 9, "-2 * -3": 6},
        **{"1 - 2 + 5": 4, "8 / 4 * 2": 4, "1 / -2": -0.5, "1 - (2 + 5)": -6},
        **{"- -1": 1, "5 / 0": 0, "0 / 0": 0, "1 / (seat - seat)": 0},
        **{
            "min(1, max(2, 3))": 1,
            f"{huge} - {huge}": 0,
            f"0 * ({huge})": 0,
            f"({huge}) / -({huge})": -1,
        },
        **{".5 + 0.25": 0.75, "1 < 2 < 3": 1, "1 < 3 < 2": 0, "3 > 2 > 1 > 0": 1, "1 < 2 == 2": 1},
        **{"not 1 < 2 or 1 < 2": 1, "not (1 < 2 or 1 < 2)": 0, "1 < 2 or 1 > 2 and 1 > 2": 1},
        **{"7 == 7.0": 1, "top_trump == ACE": 1, "7 < top_trump": 1, "7 < re": 1, "3 > 7": 0},
        **{"3 > re": 1, "upcard == due": 1, "5 < 7 < top_trump": 1, "3 > 7 > upcard": 1},
        **{"none < upcard": 1, "not not 1 < 2": 1, "top_trump - 2 == re": 1, "re + 1 >= 3": 1},
        **{"top_trump - 2 * 2 + 1 < fante": 0, "none + 1 == 2": 1},
    }
    assert ask(bestia("As 3s Rs"), *texts) == list(texts.values())


# Statements.


def decided(rule, table, rng=None):
    """The word that a rule says for the seat to act."""
    states = table.env.unwrapped.states
    view = states.copy()
    look(states, 0, states[0].turn, view, 0)
    policy = parse_policy(rule, table.game.name, int(states[0].num_players))
    action = policy.act(view, legal(view[0]), generator() if rng is None else rng)
    return table.game.action_name(action)


def test_the_first_legal_statement_that_holds_decides():
    table = bestia("As 3s Rs")
    assert decided("exchange; pass if trumps < 3; knock if trumps == 3; pass", table) == "KNOCK"
    assert decided("pass; knock", table) == "PASS"
    assert decided("knock if trumps > 3", table) == decided("exchange", table) == "PASS"
    table.play("PASS*4")
    assert decided("knock; pass", table) == decided("exchange if 1 > 2", table) == "REFUSE"
    assert decided("knock; exchange", table) == "EXCHANGE"


def test_what_is_for_the_reader_changes_nothing():
    plain = parse_rule("knock if trumps >= 2; exchange if seat < 2", "bestia")
    for text in (
        "knock if trumps >= 2; else exchange if seat < 2",
        "\n\n# Mine; or not\nknock if trumps>=2 # é 日本\n\n;;else\texchange if (seat)<2 ;\n",
        "else knock if trumps >= 2\r\n\r\nexchange if seat < 2.0\r\n",
    ):
        for mine, other in zip(parse_rule(text, "bestia").program, plain.program):
            assert np.array_equal(mine, other)


def test_a_sure_hand_is_shown_unless_a_statement_says_when():
    held = {1: "As Ks Qs Ah 2d"}
    first = beast(held).play("LEAVE")
    assert decided("pass", first) == decided("play", first) == "SHOW"
    assert decided("pass; show", first) == decided("show if trumps > 3", first) == "PASS"
    assert decided("show if trumps == 3", first) == "SHOW"
    countering = beast(held).play("LEAVE PASS PLAY PASS PASS")
    assert decided("pass", countering) == "SHOW"
    assert decided("show if player_seat == 0; counter", countering) == "COUNTER"
    taken = beast({0: "As Ks Qs Ah 2d"}, "3s").play("TAKE 2d")
    assert decided("pass", taken) == "SHOW"
    assert decided("show if taken == 0; pass", taken) == "PLAY"
    assert decided("pass", beast({}).play("TAKE 2s")) == "PLAY"
    assert decided("play", beast({})) == "LEAVE"


def test_random_draws_once_for_each_time_it_stands_there_and_else_never():
    table = bestia("As 3s Rs")
    for condition, draws in (
        *(("trumps > 1", 0), ("random < 2", 1), ("random < 1 and random < 1", 2)),
        *(("0 <= random < 1", 1), ("trumps > 9 and random < 1", 1)),
    ):
        rng, chances = generator(), Chances(generator()[0])
        decided(f"knock if {condition}", table, rng)
        for _ in range(draws):
            chances.unit()
        assert int(rng[0]) == chances.state
    rng = generator()
    knocks = [decided("knock if 0.3 < random < 0.6", table, rng) for _ in range(2000)]
    assert 520 < knocks.count("KNOCK") < 680  # a third number would have made it 420


# Rules and what they stand for.


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_rules_that_say_what_a_baseline_does_play_alike(game, num_players):
    rule, baseline = {
        "bestia": (
            "knock if chance >= 0.6; exchange if chance >= 0.6; cards by threshold:0.2",
            "threshold:0.6",
        ),
        "beast": (
            "take if chance >= 0.55; play if chance >= 0.55\n"
            "counter if chance * 2 * (1 - 0.55) >= (1 - chance) * 0.1 * 0.55",
            "threshold:0.55",
        ),
    }[game]
    table, scores = Table(game, num_players, seed=4), []
    other = "bold"  # draws nothing, as the two do
    for spec in (rule, baseline):
        policies = [parse_policy(one, game, num_players) for one in (spec, other)]
        piece = Piece((0, *[k % 2 for k in range(num_players - 1)]), 0, 200)
        scores.append(play_piece(table, policies, piece))
    assert np.array_equal(*scores) and scores[0].any()


@pytest.mark.parametrize(
    ("game", "rule"),
    [
        ("bestia", "knock if trumps >= 2 or random < .2; exchange if random < 0.5"),
        ("bestia", "knock if chance > .4; cards by net:bestia-4"),
        ("beast", "take if random < .2; play if chance > random; counter if chance > random"),
        ("beast", "play if sure_tricks >= 1; counter if trumps >= 3; cards by net:beast-4"),
    ],
)
def test_the_kernel_does_what_act_does(game, rule):
    specs = [rule, "random", f"net:{game}-4", "threshold:0.3"]
    policies = [parse_policy(spec, game, 4) for spec in specs]
    states = new_states(game, 4, count=60)
    start_sessions(states, seed_sequence_keys(1, 60), -1, 0)
    seated = np.random.default_rng(2).permuted(np.tile(np.arange(4), (60, 1)), axis=1)
    rngs = seed_sequence_keys(3, seated.size).reshape(seated.shape)
    slow, chances, view = states.copy(), rngs.copy(), states[:1].copy()
    play(states, policies, seated, rngs)
    for i, s in enumerate(slow):
        while s.turn >= 0:
            seat = int(s.turn)
            look(slow, i, seat, view, 0)
            policy = policies[seated[i, seat]]
            apply(s, policy.act(view, legal(s), chances[i, seat : seat + 1]))
    assert slow.tobytes() == states.tobytes() and np.array_equal(rngs, chances)


@pytest.mark.parametrize("game", ["beast", "bestia"])
def test_a_network_plays_its_cards_under_a_rule(game):
    """A hybrid by hand: the rule while one bids, then the network."""
    bid = {"beast": "play if trumps >= 3; counter if trumps >= 3", "bestia": "knock if voids > 1"}
    rule = parse_policy(f"{bid[game]}; cards by net:{game}-4", game, 4)
    program = parse_rule(bid[game], game).program
    network = parse_policy(f"net:{game}-4", game, 4)
    states = new_states(game, 4, count=40)
    start_sessions(states, seed_sequence_keys(1, 40), -1, 0)
    seated, played = np.zeros((40, 4), np.int64), states.copy()
    rngs = seed_sequence_keys(3, 160).reshape(40, 4)
    chances, view, stack = rngs.copy(), states[:1].copy(), np.empty(STACK)
    play(played, [rule], seated, rngs)
    for i, s in enumerate(states):
        while s.turn >= 0:
            rng = chances[i, s.turn : s.turn + 1]
            look(states, i, s.turn, view, 0)
            if is_bid(s):
                apply(s, decide(program, 0, view[0], legal(s), rng, stack))
            else:
                apply(s, network.act(view, legal(s), rng))
    assert states.tobytes() == played.tobytes() and (states["plays"] > 0).sum() > 5


def test_rules_play_in_the_environment_of_one_seat():
    for game, rule in (("beast", "play if trumps > 2"), ("bestia", "knock; cards by random")):
        opponent = parse_policy(rule, game, 4)
        env = gymnasium.make(f"bestia_env/{game.capitalize()}-v0", opponents=opponent)
        for seed in range(5):
            _, info = env.reset(seed=seed)
            done = False
            while not done:
                *_, done, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))


def test_rules_baselines_and_networks_sit_at_one_table():
    specs = ["knock if trumps > 1", "knock if random < .3\ncards by net:bestia-4", "net:bestia-4"]
    policies = [parse_policy(spec, "bestia", 4) for spec in [*specs, "sound", "random"]]
    one = compare(Table("bestia", seed=3), policies, 4)
    two = compare(Table("bestia", seed=3), policies, 4, jobs=2)
    assert (one.matrix, one.standings, one.specs) == (two.matrix, two.standings, two.specs)
    again = pickle.loads(pickle.dumps(policies[1]))
    assert all(np.array_equal(a, b) for a, b in zip(again.program, policies[1].program))


def test_no_text_spoils_a_report(capsys):
    texts = [r"knock # [/b] $\x$", "knock #" + " $ [bold]" * 400]
    policies = [parse_policy(text, "bestia", 4) for text in texts]
    assert [policy.rule for policy in policies] == texts
    result = compare(Table("bestia", seed=3), policies, 2)
    print_tables(result)
    assert "[/b]" in capsys.readouterr().out
    assert len(picture(result)) < 200_000


def test_equal_texts_are_the_same_policy():
    texts = ["knock if trumps > 1", "knock if trumps >= 2", "knock if trumps > 1; cards by sound"]
    policies = [parse_policy(text, "bestia", 4) for text in [*texts, "sound"]]
    for a, one in enumerate(policies):
        for b, other in enumerate(policies):
            assert one.same_as(other) == (a == b)
    assert policies[0].same_as(parse_policy(texts[0], "bestia", 4))


def test_rules_run_without_a_compiler():
    code = """
import numpy as np
from agents.matches import play
from agents.policies import parse_policy
from bestia_env.engine import new_states, start_sessions
from bestia_env.rng import seed_sequence_keys
for game, rule in (
    ("beast", "take if upcard > 9; play if 1 <= trumps < 9 and sure_tricks > 0; counter if voids"
     " > 0 or sides(ace) / behind > random"),
    ("bestia", "knock if top_trump >= re or third_trump != none; exchange if match < 2"),
):
    states = new_states(game, 4, count=6)
    start_sessions(states, seed_sequence_keys(1, 6), -1, 0)
    seated = np.zeros((6, 4), np.int64)
    play(states, [parse_policy(rule, game, 4)], seated, seed_sequence_keys(2, 24).reshape(6, 4))
    print(states["gains"].tolist(), states["pot"].tolist(), states["play_card"].tolist())
"""
    printed = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1] != ""


# What is wrong with a rule: the words, and ^ where the caret must point.


BAD = [
    (
        "knock if",
        "        ^",
        "the end cannot stand here: '(', '-', 'not', a name, a number or min",
    ),
    ("knock if trumps >= ", "                  ^", "the end cannot stand here"),
    ("knock if (trumps >= 2", "                     ^", "the end cannot stand here: ')' could"),
    ("knock if (trumps > 2; pass", "                    ^", "';' cannot stand here: ')' could"),
    ("knock if trumps >= 2 )", "                     ^", "')' cannot stand here"),
    ("knock if trumps", "         ^", "a number is no condition: compare it, as in x >= 2"),
    ("knock if -trumps", "         ^", "a number is no condition"),
    ("knock if re", "         ^", "a rank is no condition"),
    ("knock if trumps > top_trump", "         ^", "only a rank .* and this is a number: 2, 4, 5"),
    ("knock if top_trump >= 2 + 1", "                      ^", "only a rank is compared with"),
    ("knock if top_trump > (1 < 2)", "                      ^", "and this is a condition: 2, 4"),
    (
        "knock if top_trump > 8",
        "                     ^",
        "6, 7, fante, cavallo, re, 3, ace or none",
    ),
    ("knock if 1 < 7 < upcard", "         ^", "only a rank is compared with a rank"),
    ("knock if re * 2 > 2", "         ^", "a number is wanted here, and this is a rank"),
    ("knock if 1 + re > 2", "             ^", "a number is wanted here, and this is a rank"),
    ("knock if re - upcard > 2", "              ^", "a number is wanted here, and this is a rank"),
    ("knock if re + 1 > seat", "                  ^", "only a rank is compared with a rank"),
    ("knock if max(1, upcard) > 2", "                ^", "a number is wanted .* this is a rank"),
    ("knock if 1 < 2 and seat", "                   ^", "a condition is wanted .* is a number"),
    ("knock if (not 1 < 2) > 2", "          ^", "a number is wanted here, .* a condition"),
    ("knock if not seat", "             ^", "a condition is wanted here"),
    ("knock if trump > 2", "         ^", "unknown name 'trump': did you mean 'trumps'"),
    ("knock if Top_Trump > 2", "         ^", "did you mean 'top_trump'"),
    ("knock if upcard > cavalo", "                  ^", "did you mean 'cavallo'"),
    (
        "knock if zzz > 2",
        "         ^",
        "unknown name 'zzz': known are trumps, .*; ranks are .*, asso",
    ),
    ("knock if aces > 1", "         ^", "did you mean 'sides(ace)' or 'trumps(ace)'"),
    (
        "knock if trumps >= re",
        "         ^",
        "write trumps(RANK) to count .* top_trump for the high",
    ),
    ("knock if trumps = 2", "                ^", "(write ==)"),
    ("knock if trumps ≥ 2 # é", "                ^", "(write >=)"),
    ("knock if 1 < 2 && 2 < 3", "               ^", "(write and)"),
    ("knock if trumps > 1 exchange", "                    ^", "(put ; between statements)"),
    ("Knock if trumps > 1", "^", "(write knock)"),
    ("knock if not seat", "             ^", "a condition is wanted .* compare it, as in x >= 2"),
    ("knock if taken > 0", "         ^", "unknown name 'taken'"),
    ("knock if trumps(none) > 1", "                ^", "'none' is no rank: 2, .* 3, ace\n"),
    ("knock if trumps(8) > 1", "                ^", "'8' is no rank"),
    ("knock if voids(re) > 1", "         ^", "only trumps and sides take a rank in parentheses"),
    ("knock if trumps() > 1", "                ^", "')' cannot stand here: a name or a number"),
    ("knock if trumps = 2", "                ^", "'=' cannot stand here: .*<, <=, ==, !=, >=, >"),
    ("knock if trumps => 2", "                ^", "'=>' cannot stand here"),
    ("knock if trumps ≥ 2", "                ^", "'≥' cannot stand here"),
    ("knock if min(trumps) > 1", "                   ^", "',' could"),
    ("knock if 3..4 > 1", "          ^", "'.' cannot stand here"),
    ("knock if 1 < 2 else pass", "               ^", "'else' cannot stand here: .*';'"),
    ("knock iftrumps > 1", "      ^", "'iftrumps' cannot stand here: ';', 'if' or the end"),
    ("knock if 1 < 2 ortrue", "               ^", "'ortrue' cannot stand here"),
    ("knock when 1 < 2", "      ^", "'when' cannot stand here: ';', 'if' or the end could"),
    ("knock; take", "       ^", "'take' cannot stand here: .*pass/knock/refuse/exchange"),
    ("Knock", "^", "'Knock' cannot stand here: .*pass/knock/refuse/exchange"),
    ("knock\tif\t\tseat\t>\t)", "                 ^", "')' cannot stand here"),
    ("knock # é ☂\n\texchange if € > 2", "             ^", "line 2, column 14: '€' cannot"),
    ("knock if seat > 2\r\npass if x\r\n", "        ^", "line 2, column 9: unknown name 'x'"),
    ("knock if (seat > 2\nor seat < 2)", "                  ^", "line 1, .* the end of the line"),
    ("knock if " + "9" * 400 + " > 1", "         ^", "this number is too great"),
    ("cards by", "        ^", "the end cannot stand here: a policy could"),
    ("cards by sound", "              ^", "a rule needs an action: pass, knock, refuse, exchange"),
    ("knock; cards by a; cards by b", "                            ^", "by one policy only"),
    ("# nothing", "         ^", "a rule needs an action"),
    ("", "^", "a rule needs an action"),
    (";\n;", " ^", "line 2, column 2: a rule needs an action"),
    ("knock if " + "not " * 900 + "1 < 2", " " * 265 + "^", "nested deeper than 64 levels"),
    ("knock if " + "-" * 3000 + "1 < 2", " " * 71 + "^", "nested deeper than 64 levels"),
    ("knock if 1" + " + (1" * 600 + ")" * 600 + " > 1", None, "nested deeper than 64 levels"),
    ("knock if " + "(" * 900 + "1" + " + 1)" * 600, None, "the end cannot stand here"),
    ("knock if " + "(" * 600 + "1" + " + 1)" * 600 + " > 1", None, "nested deeper"),
]


@pytest.mark.parametrize(("text", "caret", "message"), BAD, ids=range(len(BAD)))
def test_an_error_says_what_and_points_where(text, caret, message):
    with pytest.raises(ValueError) as caught:
        parse_rule(text, "bestia")
    what, line, pointer = str(caught.value).split("\n")
    assert re.search(".*".join(map(re.escape, message.split(".*"))), what + "\n"), what
    assert what.startswith("rule, line" if "\n" in text else "rule, column")
    column = int(re.search(r"column (\d+)", what)[1])
    assert pointer == " " * (column + 1) + "^"
    assert caret is None or pointer == "  " + caret
    shown = {re.sub(r"\s", " ", one).rstrip() for one in text.split("\n")}
    assert line[:2] == "  " and line.rstrip()[2:] in shown


@pytest.mark.parametrize(
    ("condition", "column"), [("trumps(ace) > 1", 9), ("chance > .5 and (1 < 2 or voids > 1)", 35)]
)
@pytest.mark.parametrize("action", ["take", "leave"])
def test_the_dealer_has_not_seen_his_cards(action, condition, column):
    column += len(action) - len("take")
    with pytest.raises(
        ValueError, match=f"column {column}: (trumps|voids) is not known .*BEAST-08"
    ):
        parse_rule(f"{action} if {condition}", "beast")
    parse_rule(f"{action} if upcard > 10 and chance > random * pot; play if trumps > 1", "beast")


def test_a_rule_has_its_length():
    parse_rule("knock #".ljust(4000), "bestia")
    with pytest.raises(ValueError, match="a rule has at most 4000 characters, not 4001"):
        parse_rule("knock #".ljust(4001), "bestia")


def test_expressions_point_into_their_own_text():
    for text, column in (("trumpz", 1), ("seat +", 7), ("seat; knock", 7), ("1 + re", 5), ("", 1)):
        with pytest.raises(ValueError, match=f"^rule, column {column}: "):
            parse_expressions(["seat", text], "bestia")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("knock if x", "rule, column 10: unknown name 'x'"),
        ("Knock if 1 < 2", "rule, column 1: 'Knock' cannot stand here"),
        (
            "nock",
            "unknown policy 'nock' .*rule:FILE, a bidding rule, which begins with pass/knock/",
        ),
        ("take", "unknown policy 'take' for bestia"),
        (
            "knock; cards by rule:x",
            "unknown policy 'rule:x' for bestia: choose .*, cheat$",
        ),
        ("knock; cards by knock", "unknown policy 'knock'"),
        ("knock; cards by nobody", "unknown policy 'nobody'"),
        ("knock; cards by bold:1", "bold takes no number"),
        ("knock; cards by net:nowhere", "none is shipped of this name"),
        ("knock; cards by net:bestia-3", "3 players"),
        ("rule:nowhere.rule", "policy 'rule:nowhere.rule': cannot read a rule from nowhere.rule: "),
        ("rule:.", "cannot read a rule from"),
        ("rule:a\0b", "cannot read a rule from"),
        ("rule:" + "x" * 5000, "cannot read a rule from"),
        ("rule:", "unknown policy 'rule:'"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(ValueError, match=message):
        parse_policy(spec, "bestia", 4)


def test_rules_in_files(tmp_path):
    file = tmp_path / "mine.rule"
    spec = f"rule:{file}"
    file.write_bytes("\ufeff# Mein Spiel: größer\r\nknock if seat < 2\r\n".encode())
    assert np.array_equal(
        parse_policy(spec, "bestia", 4).program.operations,
        parse_policy("knock if seat < 2", "bestia", 4).program.operations,
    )
    file.write_bytes(b"knock \xff\x00")
    with pytest.raises(ValueError, match=r"cannot read a rule from .*mine\.rule: .*utf-8"):
        parse_policy(spec, "bestia", 4)
    file.write_text(f"knock; cards by {spec}")
    with pytest.raises(ValueError, match=r"unknown policy 'rule:.*mine\.rule'"):
        parse_policy(spec, "bestia", 4)
    file.write_text("")
    with pytest.raises(ValueError, match="a rule needs an action"):
        parse_policy(spec, "bestia", 4)


def test_what_looks_like_a_rule():
    for text in ("knock", "  ;else pass", "# mine\n knock if", "cards by x", "PASS", "knock:0.5"):
        assert is_rule(text, "bestia")
    for text in ("", "#", "knocks", "random", "threshold:0.5", "take", "net:knock", "if knock"):
        assert not is_rule(text, "bestia")


def never_anything_else(text, game):
    """Nothing but ValueErrors, in both games, with a caret that lies in the text."""
    try:
        parse_policy(text, game, 4)
    except ValueError as error:
        assert not isinstance(error, UnicodeError)
    try:
        parse_rule(text, game)
    except ValueError as error:
        found = re.match(r"rule, (?:line (\d+), )?column (\d+): ", str(error))
        assert found or len(text) > 4000
        row, column = int(found[1] or 1), int(found[2])
        assert 1 <= column <= len(text.split("\n")[row - 1]) + 1


words = [*OPEN, *HAND, *HAND_RANKS, *"if else or and not min( max( ( ) , ; + - * /".split()]
words += ["re", "ace", "7", "2", "0.5", ">=", "<", "==", "\n", "\t", "# x", "cards by", "none", "é"]


@settings(max_examples=400)
@given(st.sampled_from(sorted(PLAYERS)), st.data())
def test_no_text_breaks_the_parser(game, data):
    starts = st.sampled_from(["", *ACTIONS[game]])
    salad = st.lists(st.sampled_from([*words, *ACTIONS[game]])).map(" ".join)
    text = data.draw(st.builds("{} {}".format, starts, st.text() | salad))
    never_anything_else(text, game)


@settings(max_examples=200)
@given(st.sampled_from(sorted(PLAYERS)), st.randoms(use_true_random=False))
def test_no_change_of_a_good_rule_breaks_the_parser(game, rng):
    text = Writer(rng, game).rule()[0]
    parse_rule(text, game)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        inserted = rng.choice([*words, "", "", " ", "\ud800", "\0", "\u2028", "\r"])
        text = text[:at] + inserted + text[at + rng.randint(0, 3) :]
    never_anything_else(text, game)


def test_every_name_of_the_games_is_tested_here():
    for game, module in MODULES.items():
        names = {feature.name for feature in module.FEATURES}
        assert names == {*HAND, *HAND_RANKS, *OPEN, *OWN[game], "upcard"}
        assert module.ACTIONS == ACTIONS[game]
        assert [names[0] for names in module.RANK_NAMES] == RANKS[game]
        assert all(feature.meaning for feature in module.FEATURES)
