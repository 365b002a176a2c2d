"""From the text of a bidding rule to its compiled form; the language stands in `agents.bidding`."""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from lark import Lark, Token, Tree, UnexpectedInput

from agents.bidding import machine
from agents.bidding.feature import Feature
from agents.bidding.machine import FEATURE, MODULES, NUMBER, STACK, Program
from bestia_env.games import game_named

LONGEST = 4000  # characters
GRAMMAR = r"""
start: _SEPARATOR* (_statement (_SEPARATOR+ _statement)* _SEPARATOR*)?
_statement: _ELSE? (decision | cards)
decision: ACTION (_IF _expression)?
cards: _CARDS _BY SPEC
_expression: disjunction | _conjunction
disjunction: _conjunction (_OR _conjunction)+
_conjunction: conjunction | _negation
conjunction: _negation (_AND _negation)+
_negation: negation | _comparison
negation: NOT _negation
_comparison: comparison | _sum
comparison: _sum (COMPARISON _sum)+
_sum: sum | _product
sum: _product ((PLUS | MINUS) _product)+
_product: product | _factor
product: _factor ((TIMES | OVER) _factor)+
_factor: opposite | _atom
opposite: MINUS _factor
_atom: number | name | counted | extreme | "(" _expression ")"
number: NUMERAL
name: NAME
counted: NAME "(" (NAME | NUMERAL) ")"
extreme: EXTREME "(" _expression "," _expression ")"

_ELSE.1: /else\b/
_IF.1: /if\b/
_CARDS.1: /cards\b/
_BY.1: /by\b/
_OR.1: /or\b/
_AND.1: /and\b/
NOT.1: /not\b/
EXTREME.1: /(min|max)\b/
COMPARISON: "<=" | ">=" | "==" | "!=" | "<" | ">"
PLUS: "+"
MINUS: "-"
TIMES: "*"
OVER: "/"
NUMERAL: /[0-9]+(\.[0-9]+)?|\.[0-9]+/
NAME: /[A-Za-z_][A-Za-z_0-9]*/
SPEC: /[^\s;#]+/
_SEPARATOR: /[;\n]/
COMMENT: /#[^\n\ud800-\udfff]*/
%ignore COMMENT
%ignore /[ \t\r]+/
"""
CODES = {
    **{"+": machine.ADD, "-": machine.SUBTRACT, "*": machine.MULTIPLY, "/": machine.DIVIDE},
    **{"min": machine.LEAST, "max": machine.MOST, "disjunction": machine.OR},
    **{"<": machine.LESS, "<=": machine.AT_MOST, "==": machine.EQUAL, "!=": machine.UNEQUAL},
    **{">=": machine.AT_LEAST, ">": machine.MORE, "conjunction": machine.AND},
}
WORDS = {  # what the grammar's terminals are called in an error
    **{"_IF": "'if'", "_ELSE": "'else'", "_OR": "'or'", "_AND": "'and'", "NOT": "'not'"},
    **{"_CARDS": "'cards by'", "_BY": "'by'", "SPEC": "a policy", "NUMERAL": "a number"},
    **{"NAME": "a name", "COMPARISON": "a comparison (<, <=, ==, !=, >=, >)", "EXTREME": "min/max"},
    **{"PLUS": "'+'", "MINUS": "'-'", "TIMES": "'*'", "OVER": "'/'", "LPAR": "'('", "RPAR": "')'"},
    **{"COMMA": "','", "_SEPARATOR": "';'", "$END": "the end"},
}
MEANT = {  # what other languages write
    **{"=": "==", "=>": ">=", "=<": "<=", "<>": "!=", "≥": ">=", "≤": "<=", "≠": "!="},
    **{"&": "and", "|": "or", "!": "not", "then": "no then, as in: knock if trumps >= 2"},
}
RANK, NUMERIC, TRUTH = "a rank", "a number", "a condition"


class Rule(NamedTuple):
    """A bidding rule.

    Attributes:
        program: its compiled form.
        cards: the spec of the policy that plays the cards, None if the text names none.
    """

    program: Program
    cards: str | None


class Value(NamedTuple):
    """A compiled expression.

    Attributes:
        kind: RANK, NUMERIC or TRUTH.
        code: its operations with their numbers, in order.
        at: where it begins in the text.
        numeral: its text if it is a bare number, which may yet turn out to be a rank.
    """

    kind: str
    code: tuple[tuple[int, float], ...]
    at: Token
    numeral: str | None = None


def is_rule(text: str, game: str) -> bool:
    """Does a text look like a bidding rule: is its first word, a comment aside, an action?"""
    first = re.match(r"(?:[\s;]|#[^\n]*)*(\w*)", text)
    return first is not None and first[1].lower() in (*MODULES[game].ACTIONS, "else", "cards")


def parse_rule(text: str, game: str) -> Rule:
    """Compile a bidding rule.

    Args:
        text: such as `knock if trumps >= 2; else exchange if seat < 2`.
        game: "beast" or "bestia".

    Raises:
        ValueError: it is none; the message shows the line and points at the column.
    """
    game_named(game)
    return _Compiler(text, game).rule(_parse(text, game))


class Expressions(NamedTuple):
    """Expressions by which hands are told apart.

    Attributes:
        texts: as they were given.
        program: one rule with a statement for each; `machine.evaluate` gives their values.
        rank_names: of each expression, the names of its values if they are ranks, else none.
    """

    texts: tuple[str, ...]
    program: Program
    rank_names: tuple[tuple[str, ...], ...]

    def words(self, values: Sequence[float]) -> tuple[str, ...]:
        """The values of the expressions, or of the first, as they are read: ranks by name."""
        return tuple(
            names[int(value)] if names else f"{value:g}"
            for value, names in zip(values, self.rank_names)
        )


def parse_expressions(texts: Sequence[str], game: str) -> Expressions:
    """Compile expressions such as `trumps`, `top_trump` or `min(seat, 2)`; truth is 1, else 0.

    Raises:
        ValueError: one of them is none, as for `parse_rule`.
    """
    values = [_expression(text, game) for text in texts]
    ranks = (*(names[0] for names in MODULES[game].RANK_NAMES), "none")  # none is -1
    return Expressions(
        tuple(texts),
        _assembled([(0, value.code) for value in values]),
        tuple(ranks if value.kind == RANK else () for value in values),
    )


def _expression(text: str, game: str) -> Value:
    """An expression stands where a condition does."""
    whole = f"{next(iter(MODULES[game].ACTIONS))} if {text}"
    compiler = _Compiler(whole, game, len(whole) - len(text))
    decision, *others = _parse(whole, game, compiler.offset).children
    if others:
        at = _first_token(others[0]).start_pos
        compiler.fail(at, "one expression is wanted, and here another statement begins")
    return compiler.value(decision.children[1], 0)


def _assembled(statements: Sequence[tuple[int, tuple]]) -> Program:
    lengths = [len(code) for _, code in statements]
    flat = [item for _, code in statements for item in code]
    return Program(
        np.array([operation for operation, _ in flat], np.int64),
        np.array([number for _, number in flat], np.float64),
        np.cumsum([0, *lengths]).astype(np.int64),
        np.array([action for action, _ in statements], np.int64),
        np.array([0, len(statements)], np.int64),
    )


# Text to tree.


@functools.cache
def _parser(game: str) -> Lark:
    action = f"ACTION.1: /({'|'.join(MODULES[game].ACTIONS)})\\b/"
    return Lark(f"{GRAMMAR}\n{action}\n", parser="lalr")


def _parse(text: str, game: str, offset: int = 0) -> Tree:
    """The tree of a text whose first `offset` characters are not the user's."""
    if len(text) > LONGEST:
        raise ValueError(f"a rule has at most {LONGEST} characters, not {len(text)}")
    try:
        return _parser(game).parse(text)
    except UnexpectedInput as error:
        at, found = _found(text, error)
        could = _expected(error, game)
        what = f"{found} cannot stand here: {_listed(could)} could{_hint(found, could, game)}"
        _fail(text, at, what, offset)


def _found(text: str, error: UnexpectedInput) -> tuple[int, str]:
    """Where the text went wrong, and what stands there."""
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return token.end_pos or 0, "the end"
    at = error.pos_in_stream or 0
    word = re.match(r"\w+|[<>=!]+|.", text[at:])
    return at, repr(word[0]) if word else "the end of the line"


def _expected(error: UnexpectedInput, game: str) -> list[str]:
    """What could have stood there."""
    names = getattr(error, "accepts", None) or getattr(error, "allowed", None) or ()
    words = {**WORDS, "ACTION": "/".join(MODULES[game].ACTIONS)}
    return sorted(words[name] for name in names if name in words)


def _hint(found: str, could: Sequence[str], game: str) -> str:
    """What may have been meant."""
    word = found.strip("'")
    if word in MEANT:
        return f" (write {MEANT[word]})"
    if word.lower() in (*MODULES[game].ACTIONS, "else"):
        if word != word.lower():
            return f" (write {word.lower()})"
        return " (put ; between statements)" if repr(";") in could else ""
    return ""


def _listed(words: Sequence[str]) -> str:
    return (
        ", ".join(words[:-1]) + (" or " if words[:-1] else "") + words[-1] if words else "nothing"
    )


def _fail(text: str, position: int | None, what: str, offset: int = 0) -> NoReturn:
    """Raise the error that shows the line and points at the column."""
    at = len(text) if position is None else position
    before, user_text = text[offset:at], text[offset:]
    row, column = before.count("\n"), len(before) - before.rfind("\n")
    line = "".join(c if c.isprintable() else " " for c in user_text.split("\n")[row]).rstrip()
    where = f"line {row + 1}, column {column}" if "\n" in user_text else f"column {column}"
    raise ValueError(f"rule, {where}: {what}\n  {line}\n  {' ' * (column - 1)}^") from None


# Tree to operations.


@dataclass(frozen=True)
class _Compiler:
    """Turns the tree of one text into operations; `offset` characters of it are not the user's."""

    text: str
    game: str
    offset: int = 0

    def fail(self, position: int | None, what: str) -> NoReturn:
        _fail(self.text, position, what, self.offset)

    @property
    def features(self) -> dict[str, tuple[int, Feature]]:
        return {f.name: (place, f) for place, f in enumerate(MODULES[self.game].FEATURES)}

    @property
    def ranks(self) -> dict[str, int]:
        names = enumerate(MODULES[self.game].RANK_NAMES)
        return {"none": -1} | {name: place for place, names_of in names for name in names_of}

    def rule(self, tree: Any) -> Rule:
        decisions = [node for node in tree.children if node.data == "decision"]
        named = [node.children[0] for node in tree.children if node.data == "cards"]
        if len(named) > 1:
            self.fail(named[1].start_pos, "the cards are played by one policy only")
        if not decisions:
            self.fail(None, f"a rule needs an action: {', '.join(MODULES[self.game].ACTIONS)}")
        said = {str(node.children[0]) for node in decisions}
        unsaid = [name for name in MODULES[self.game].ALWAYS if name not in said]
        always = [(MODULES[self.game].ACTIONS[name], ((NUMBER, 1.0),)) for name in unsaid]
        statements = always + [self.statement(*node.children) for node in decisions]
        return Rule(_assembled(statements), str(named[0]) if named else None)

    def statement(self, action: Token, condition: Any = None) -> tuple[int, tuple]:
        """The action and the operations of its condition."""
        number = MODULES[self.game].ACTIONS[action]
        if condition is None:
            return number, ((NUMBER, 1.0),)
        value = self.value(condition, 0)
        if value.kind != TRUTH:
            self.fail(value.at.start_pos, f"{value.kind} is no condition: compare it, as in x >= 2")
        if action in MODULES[self.game].BLIND:
            self.check_blind(condition, action)
        return number, value.code

    def check_blind(self, condition: Any, action: str) -> None:
        for token in condition.scan_values(lambda child: getattr(child, "type", "") == "NAME"):
            known = self.features.get(token)
            if known is not None and known[1].is_of_hand:
                self.fail(
                    token.start_pos,
                    f"{token} is not known to who must {action} or not: he has not looked at his "
                    "cards (BEAST-08)",
                )

    def value(self, tree: Any, depth: int) -> Value:
        """Compile an expression that finds at most `depth` values on the stack."""
        if depth >= STACK:
            self.fail(_first_token(tree).start_pos, f"nested deeper than {STACK} levels")
        return getattr(self, f"_{tree.data}")(tree, depth)

    def _number(self, tree: Any, depth: int) -> Value:
        token = tree.children[0]
        if math.isinf(float(token)):
            self.fail(token.start_pos, "this number is too great")
        return Value(NUMERIC, ((NUMBER, float(token)),), token, str(token))

    def _name(self, tree: Any, depth: int) -> Value:
        token = tree.children[0]
        if token in self.features:
            place, known = self.features[token]
            kind = RANK if known.is_rank else NUMERIC
            return Value(kind, ((FEATURE + place, 0.0),), token)
        if token.lower() in self.ranks:
            return Value(RANK, ((NUMBER, float(self.ranks[token.lower()])),), token)
        self.fail(token.start_pos, f"unknown name {str(token)!r}: {self.meant(token.lower())}")

    def meant(self, name: str) -> str:
        """What an unknown name may stand for, or all that there is."""
        rank = name.removesuffix("s")
        if rank in self.ranks:
            return f"did you mean 'sides({rank})' or 'trumps({rank})'?"
        close = difflib.get_close_matches(name, [*self.features, *self.ranks], n=1, cutoff=0.7)
        if close:
            return f"did you mean {close[0]!r}?"
        return f"known are {', '.join(self.features)}; ranks are {', '.join(self.ranks)}"

    def _counted(self, tree: Any, depth: int) -> Value:
        token, rank = tree.children
        place, known = self.features.get(token, (0, None))
        if known is None or not known.takes_rank:
            able = [f.name for _, f in self.features.values() if f.takes_rank]
            self.fail(token.start_pos, f"only {' and '.join(able)} take a rank in parentheses")
        strength = self.ranks.get(rank.lower(), -1)
        if strength < 0:
            self.fail(rank.start_pos, f"{str(rank)!r} is no rank: {self.known_ranks()}")
        return Value(NUMERIC, ((FEATURE + place, float(strength)),), token)

    def _opposite(self, tree: Any, depth: int) -> Value:
        sign, operand = tree.children
        code = self.numeric(operand, depth + 1).code
        return Value(NUMERIC, (*code, (machine.NEGATE, 0.0)), sign)

    def _negation(self, tree: Any, depth: int) -> Value:
        word, operand = tree.children
        code = self.truth(operand, depth + 1).code
        return Value(TRUTH, (*code, (machine.NOT, 0.0)), word)

    def _sum(self, tree: Any, depth: int) -> Value:
        """A number may be added to a rank, which moves it up."""
        first, *rest = tree.children
        value = self.value(first, depth + 1)
        kind = RANK if value.kind == RANK and tree.data == "sum" else NUMERIC
        code = self.checked(value, kind).code
        for sign, term in zip(rest[::2], rest[1::2]):
            code += (*self.numeric(term, depth + 1).code, (CODES[sign], 0.0))
        return Value(kind, code, value.at)

    _product = _sum

    def _extreme(self, tree: Any, depth: int) -> Value:
        word, a, b = tree.children
        code = (*self.numeric(a, depth + 1).code, *self.numeric(b, depth + 1).code)
        return Value(NUMERIC, (*code, (CODES[word], 0.0)), word)

    def _disjunction(self, tree: Any, depth: int) -> Value:
        first, *rest = tree.children
        value = self.truth(first, depth + 1)
        code = value.code
        for term in rest:
            code += (*self.truth(term, depth + 1).code, (CODES[tree.data], 0.0))
        return Value(TRUTH, code, value.at)

    _conjunction = _disjunction

    def _comparison(self, tree: Any, depth: int) -> Value:
        """A chain a < b < c says a < b and b < c, and asks for b once."""
        signs = tree.children[1::2]
        values = self.alike([self.value(part, depth + 2) for part in tree.children[::2]])
        first, *rest = values
        if len(signs) == 1:
            code = (*first.code, *rest[0].code, (CODES[signs[0]], 0.0))
            return Value(TRUTH, code, first.at)
        code = ((NUMBER, 1.0), *first.code)
        for sign, value in zip(signs, rest):
            code += (*value.code, (machine.LINK, float(CODES[sign])))
        return Value(TRUTH, (*code, (machine.DROP, 0.0)), first.at)

    def alike(self, values: Sequence[Value]) -> list[Value]:
        """The sides of a comparison, as ranks if one of them is one, else as numbers."""
        if any(value.kind == RANK for value in values):
            return [self.as_rank(value) for value in values]
        return [self.checked(value, NUMERIC) for value in values]

    def as_rank(self, value: Value) -> Value:
        """A bare number is the rank of this name where a rank is wanted: 7 is the seven."""
        if value.numeral in self.ranks:
            return Value(RANK, ((NUMBER, float(self.ranks[value.numeral])),), value.at)
        if value.kind != RANK:
            self.fail(
                value.at.start_pos,
                f"only a rank is compared with a rank, and this is {value.kind}: "
                f"{self.known_ranks()} or none{self.of_rank(value)}",
            )
        return value

    def of_rank(self, value: Value) -> str:
        """How to ask for a rank with a feature that counts."""
        known = self.features.get(str(value.at))
        if known is None or not known[1].takes_rank:
            return ""
        return f" (write {value.at}(RANK) to count from a rank up, top_trump for the highest)"

    def numeric(self, tree: Any, depth: int) -> Value:
        return self.checked(self.value(tree, depth), NUMERIC)

    def truth(self, tree: Any, depth: int) -> Value:
        return self.checked(self.value(tree, depth), TRUTH)

    def checked(self, value: Value, kind: str) -> Value:
        if value.kind != kind:
            hint = ": compare it, as in x >= 2" if (kind, value.kind) == (TRUTH, NUMERIC) else ""
            self.fail(value.at.start_pos, f"{kind} is wanted here, and this is {value.kind}{hint}")
        return value

    def known_ranks(self) -> str:
        return ", ".join(names[0] for names in MODULES[self.game].RANK_NAMES)


def _first_token(tree: Any) -> Token:
    while not isinstance(tree, Token):
        tree = tree.children[0]
    return tree
