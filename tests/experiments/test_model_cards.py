import json

import pytest

from agents.equilibria.solutions import SOLUTIONS
from agents.policies import CHECKPOINTS
from agents.shipped import shipped_named
from experiments import model_cards


def test_every_shipped_file_has_a_card_that_is_up_to_date():
    """`python -m experiments.model_cards` writes them anew."""
    cards = model_cards.cards()
    on_disk = {*CHECKPOINTS.glob("*.md"), *SOLUTIONS.glob("*.md")}
    assert cards.keys() == on_disk
    for path, text in cards.items():
        assert path.read_text(encoding="utf-8") == text, path.name
    shipped = [p for p in CHECKPOINTS.iterdir() if p.suffix in (".safetensors", ".bids")]
    assert len(cards) == len(shipped) + 1


@pytest.mark.parametrize(
    ("file", "name", "said"),
    [
        ("shipped.json", "weights", "These weights have not been measured."),
        ("best-response.json", "digest", "\nNot measured.\n"),
        ("league.json", "digest", None),
    ],
)
def test_figures_of_other_weights_are_left_out(tmp_path, monkeypatch, file, name, said):
    for path in model_cards.RESULTS.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    rows = json.loads((tmp_path / file).read_text(encoding="utf-8"))
    other = [{**row, name: "other"} for row in rows]
    (tmp_path / file).write_text(json.dumps(other), encoding="utf-8")
    before = model_cards.network_card(shipped_named("bestia-4"))
    monkeypatch.setattr(model_cards, "RESULTS", tmp_path)
    after = model_cards.network_card(shipped_named("bestia-4"))
    assert len(after) < len(before)
    assert said is None or (said in after and said not in before)
    assert ("of the league" in after) == (file != "league.json")


def test_options_that_are_not_the_usual_are_told():
    usual = model_cards._rules("bestia", {"stake": 3, "force": False})
    assert "every option at its default" in usual
    assert model_cards._rules("bestia", {"stake": 6, "force": False}) == "`stake=6`"
