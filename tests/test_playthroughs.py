import pytest

from tests.playthroughs import paths, retold


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_playthrough(path):
    """How to rewrite them after a change that is meant: see tests/playthroughs."""
    text = path.read_text(encoding="utf-8")
    assert retold(text) == text


def test_both_games_are_played_through():
    assert {path.name.partition("_")[0] for path in paths()} == {"beast", "bestia"}
