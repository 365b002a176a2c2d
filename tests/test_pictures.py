"""Pictures of the table: what they show, what they hide, and that nothing leaves the frame."""

import random
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from bestia_env.games import GAMES
from bestia_env.render import card_svg, cards, render_rgb, render_svg, render_text
from bestia_env.render.artwork import COLOURS, SUITS
from bestia_env.render.elements import text_width
from bestia_env.render.seats import coins_text
from tests.sessions import EVERY, TABLES, members
from tests.test_render import known, laid_away, reshuffled
from tests.test_render import tables as all_tables

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<b>&\"'", "]]>", "\x00\x1b", "line\nbreak", "W" * 200, "李小龍", "", "ê", "{}", "%s"]
LEAST_TEXT = 11  # pixels, at the picture's own width of 640


def tables(game, num_players, hands=1, *, reduced=False):
    """Some of the tables of random hands: the first, one in four, and every hand's end."""
    rng = random.Random(f"{game}{num_players}")
    for number, table in enumerate(all_tables(game, num_players, hands, reduced=reduced)):
        if number == 0 or table.turn < 0 or rng.random() < 0.25:
            yield table


def nodes(root, x=0.0, y=0.0, scale=1.0):
    """Every element with its place and scale; there are no turned texts but those of cards."""
    turned = root.get("transform", "")
    if found := re.search(r"translate\((\S+) (\S+)\)", turned):
        x, y = x + scale * float(found[1]), y + scale * float(found[2])
    if found := re.search(r"scale\((\S+)\)", turned):
        scale *= float(found[1])
    if not turned.startswith("rotate"):
        yield root, x, y, scale
        for child in root:
            yield from nodes(child, x, y, scale)


def lying(svg, place):
    """The cards face up in a place: seat (None for the upcard) and id."""
    found = [node for node in ET.fromstring(svg).iter() if node.get("data-place") == place]
    return sorted(
        (int(node.get("data-seat", -1)), int(node.get("data-card")))
        for node in found
        if node.get("class") == "card"
    )


def held_by(seat, bits):
    return [(seat, card) for card in members(bits)]


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_a_seat_s_picture_shows_what_it_may_know_and_nothing_else(game, num_players, reduced):
    rng = random.Random(num_players)
    for table in tables(game, num_players, reduced=reduced):
        seat = rng.randrange(num_players)
        svg = render_svg(table.states, game, seat)
        shown = {int(card) for card in re.findall(r'data-card="(\d+)"', svg)}
        assert shown <= set(members(known(table, seat)))
        assert set(members(known(table, seat) & table.read("hands")[seat])) <= shown
        assert render_svg(reshuffled(rng, table, seat), game, seat) == svg
        assert render_svg(table.view(seat), game) == svg


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_an_open_picture_shows_all_cards(game, num_players, reduced):
    for table in tables(game, num_players, reduced=reduced):
        svg = render_svg(table.states, game)
        seats = range(num_players)
        hands = [card for seat in seats for card in held_by(seat, table.read("hands")[seat])]
        away = [card for seat in seats for card in held_by(seat, laid_away(table, seat))]
        assert lying(svg, "hand") == sorted(hands)
        assert lying(svg, "away") == sorted(away)
        assert lying(svg, "upcard") == [(-1, table.read("upcard"))]
        assert 'class="back"' not in svg


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_the_last_trick_lies_until_the_next_is_led(game, num_players, reduced):
    for table in tables(game, num_players, reduced=reduced):
        plays = table.read("plays")
        starts = [start for start in table.read("trick_start") if start < plays]
        played = zip(table.read("play_seat"), table.read("play_card"), strict=True)
        expected = list(played)[max(starts) : plays] if plays else []
        assert lying(render_svg(table.states, game), "trick") == sorted(expected)


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_texts_are_legible_and_stay_in_the_frame(game, num_players, reduced):
    rng = random.Random(num_players)
    for table in tables(game, num_players, reduced=reduced):
        names = [rng.choice(HOSTILE) for _ in range(num_players)]
        root = ET.fromstring(render_svg(table.states, game, rng.choice((None, 0)), names))
        for node, x, y, scale in nodes(root):
            if node.tag != SVG + "text":
                continue
            size = scale * float(node.get("font-size"))
            left, top = x + scale * float(node.get("x")), y + scale * float(node.get("y"))
            width = text_width(node.text or "", size)
            left -= {"middle": width / 2, "end": width}.get(node.get("text-anchor"), 0)
            assert size >= LEAST_TEXT or node.text == "10", node.text
            assert left >= 0 and left + width <= 640, node.text
            assert size <= top <= 512, node.text


@pytest.mark.parametrize(("game", "num_players", "reduced"), EVERY)
def test_boxes_stay_in_the_frame(game, num_players, reduced):
    for table in tables(game, num_players, reduced=reduced):
        for node, x, y, scale in nodes(ET.fromstring(render_svg(table.states, game))):
            if node.tag == SVG + "rect" and float(node.get("width")) < 640:
                rim = scale * float(node.get("stroke-width", 1)) / 2
                left, top = x + scale * float(node.get("x")), y + scale * float(node.get("y"))
                assert min(left, top) >= rim
                assert left + scale * float(node.get("width")) + rim <= 640
                assert top + scale * float(node.get("height")) + rim <= 512


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_a_picture_stands_alone_and_beside_others(game, num_players):
    table = next(tables(game, num_players))
    svg = render_svg(table.states, game, 0)
    root = ET.fromstring(svg)
    assert root.get("viewBox") == "0 0 640 512" and root.get("role") == "img"
    assert root[0].tag == SVG + "title"
    assert root[1].text == render_text(table.states, game, 0, ascii_only=False)
    assert not re.search(r"<(style|defs|use|image|script)|\s(id|href|on\w+)=|url\(", svg)
    assert svg == render_svg(table.states, game, 0)


def test_names_are_shown_as_they_are_written():
    table = next(tables("beast", 4))
    svg = render_svg(table.states, "beast", names=["<b>&", "Anna\n Maria", "\x00", "x" * 100])
    texts = {node.text for node in ET.fromstring(svg).iter(SVG + "text")}
    assert {"<b>&", "Anna Maria", "?"} <= texts
    assert any(re.fullmatch("x{9,}…", text or "") for text in texts)


@pytest.mark.parametrize("names", [["a", "b"], "abcd", [], list("abcde")])
def test_a_name_for_each_seat(names):
    table = next(tables("beast", 4))
    with pytest.raises(ValueError, match="names must be 4, one for each seat"):
        render_svg(table.states, "beast", names=names)


@pytest.mark.parametrize(
    ("coins", "ems", "words"),
    [
        (-999999999, 12, "−999 999 999"),
        (0, 12, "+0"),
        (12345678, 5.5, "+1.235e7"),
        (-12345678, 5, "−1.23e7"),
        (10**12, 3, "+1e12"),
        (10**12, 0, "+1e12"),
    ],
)
def test_coins_in_the_room_that_there_is(coins, ems, words):
    assert coins_text(coins, "+", ems) == words


def test_penalties_are_named_even_where_names_are_alike():
    table = next(tables("beast", 4))
    table.states["revoked"][0, :2] = 1
    for seat, count in ((None, 2), (1, 1), (2, 0)):
        root = ET.fromstring(render_svg(table.states, "beast", seat, ["Anna"] * 4))
        words = " ".join(node.text for node in root.iter(SVG + "text"))
        assert words.count("Anna ×1") == count


def test_seats_lie_in_the_order_of_play():
    """Beast's next seat is at the left, Bestia's at the right."""
    for game, is_left in (("beast", True), ("bestia", False)):
        svg = render_svg(next(tables(game, 4)).states, game, 2)
        at = {
            node.get("data-seat"): x
            for node, x, *_ in nodes(ET.fromstring(svg))
            if node.get("class") == "seat"
        }
        assert (at["3"] < 320) is is_left
        assert (at["1"] < 320) is not is_left


@pytest.mark.parametrize("game", GAMES)
def test_every_card_has_a_face_of_its_own(game):
    pack = GAMES[game].pack
    for face in (cards.face, cards.small_face):
        assert len({face(pack, card) for card in range(pack.size)}) == pack.size
    titles = [ET.fromstring(card_svg(card, game))[0].text for card in [*range(pack.size), None]]
    assert titles == [*map(pack.long_name, range(pack.size)), "a card face down"]
    for card in (-1, pack.size):
        with pytest.raises(ValueError, match=f"card must be from 0 to {pack.size - 1}"):
            card_svg(card, game)


def test_the_artwork_is_of_both_packs():
    suits = {suit for game in GAMES.values() for suit in game.pack.suits}
    assert set(SUITS) == set(COLOURS) == suits


@pytest.mark.parametrize(("game", "num_players"), TABLES)
def test_pixels(game, num_players):
    table = next(tables(game, num_players))
    pixels = render_rgb(table.states, game)
    assert pixels.shape == (512, 640, 3) and pixels.dtype == np.uint8
    assert pixels.flags.c_contiguous and pixels.flags.writeable
    assert pixels[-1, 0].tolist() == [0x10, 0x26, 0x1D]
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 1000


def test_pixels_of_another_width():
    table = next(tables("beast", 4))
    assert render_rgb(table.states, "beast", 0, width=np.int64(1280)).shape == (1024, 1280, 3)
    for width in (0, -1, 1.5, "640", True, None, 8193, 10**6, 10**30):
        with pytest.raises(ValueError, match="width must be an integer from 1 to 8192"):
            render_rgb(table.states, "beast", width=width)


def test_the_font_of_pixels_has_every_letter():
    """Names apart: whatever the package itself writes."""
    import pygame

    pygame.font.init()
    font = pygame.font.Font(None, 20)
    missing = font.metrics("\uffff")[0]
    letters = set()
    for game, num_players in TABLES:
        for table in tables(game, num_players):
            root = ET.fromstring(render_svg(table.states, game, names=["x" * 99] * num_players))
            letters |= {letter for node in root.iter(SVG + "text") for letter in node.text}
    assert "…" in letters
    assert [c for c in sorted(letters) if c != " " and font.metrics(c)[0] in (None, missing)] == []
