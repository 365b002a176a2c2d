"""The demonstration, on a tiny budget."""

import json
from pathlib import Path

import pytest

from experiments import demo

pytestmark = pytest.mark.slow  # two trainings and two arenas in processes of their own


def test_smoke_leaves_tables_plots_and_policies(tmp_path: Path, capsys) -> None:
    demo.main(demo.Arguments(out=tmp_path, smoke=True))
    said = capsys.readouterr().out
    for game in demo.GAMES:
        assert f"{game}, the learner among copies of each baseline" in said
        facts = json.loads((tmp_path / game / "arena" / "arena.json").read_text(encoding="utf-8"))
        assert facts["policies"][0].startswith("net:") and facts["num_deals"] == 50
        for name in ("learning_curve.png", "arena/arena.png", "training/policy.safetensors"):
            assert (tmp_path / game / name).stat().st_size > 0
