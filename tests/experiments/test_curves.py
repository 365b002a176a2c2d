import matplotlib
import pytest

from experiments import curves, train_q


def test_runs_are_drawn(tmp_path):
    for game in ("bestia", "beast"):
        arguments = train_q.Arguments(
            tmp_path / game, game=game, total_steps=4000, num_envs=16, steps_per_update=32,
            eval_every=1000, eval_deals=10, final_deals=0,
        )  # fmt: skip
        train_q.train(arguments)
    matplotlib.use("svg")
    for name in ("curves.png", "curves.svg"):
        curves.main(curves.Arguments((tmp_path / "bestia", tmp_path / "beast"), tmp_path / name))
        assert (tmp_path / name).stat().st_size > 10_000
    assert matplotlib.get_backend() == "svg"  # as a notebook left it


def test_runs_without_evaluations_are_refused(tmp_path, capsys):
    arguments = train_q.Arguments(tmp_path / "run", smoke=True)
    train_q.train(arguments)
    for name, content in (("list", "[]"), ("empty", "{}"), ("broken", "{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "arguments.json").write_text(content)
    (tmp_path / "run" / "metrics.jsonl").write_text('{"steps": 1, "score/random": 0.1}\n')
    others = ("none", "list", "empty", "broken")
    for run, message in [
        ("run", "has no evaluations"),
        *((name, "holds no training run") for name in others),
    ]:
        with pytest.raises(SystemExit) as caught:
            curves.main(curves.Arguments((tmp_path / run,), tmp_path / "curves.png"))
        assert caught.value.code == 2
        assert message in capsys.readouterr().err
