import pytest

from experiments import reproduce


def test_smoke_trains_by_the_recipe_and_compares(tmp_path, capfd):
    reproduce.main(reproduce.Arguments("bestia-3", tmp_path / "run", deals=20, smoke=True))
    said = capfd.readouterr().out
    assert "python -m experiments.train_ppo --num-players 3" in said
    assert "trained anew" in said and "the other" in said


def test_an_unknown_name_exits_with_2(capsys):
    with pytest.raises(SystemExit) as caught:
        reproduce.main(reproduce.Arguments("bestia-99"))
    assert caught.value.code == 2
    assert "no policy 'bestia-99' is shipped" in capsys.readouterr().err
