import json

import pytest

from agents.policies import default_specs
from experiments import seeds


def test_smoke_trains_with_each_seed_and_compares(tmp_path, capfd):
    out = tmp_path / "seeds.json"
    arguments = seeds.Arguments(
        "bestia-3", seeds=(0, 1), deals=20, runs=tmp_path, out=out, smoke=True
    )
    seeds.main(arguments)
    facts = json.loads(out.read_text())
    assert [row["baseline"] for row in facts["rows"]] == default_specs("bestia")
    assert all(len(row["scores"]) == 2 for row in facts["rows"])
    assert facts["rows"][0]["scores"][0] != facts["rows"][0]["scores"][1]
    assert "| bestia-3 among copies of | seed 0 | seed 1 | all |" in capfd.readouterr().out


@pytest.mark.parametrize("wrong", [(), (1,), (1, 1)])
def test_one_seed_alone_is_refused(wrong, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        seeds.main(seeds.Arguments("bestia-3", seeds=wrong, runs=tmp_path))
    assert caught.value.code == 2
    assert f"seeds must be two or more and different, not {wrong}" in capsys.readouterr().err
