import dataclasses
import json

import pytest

from agents.arena import one_against_field
from agents.policies import parse_policy
from experiments import best_response as script
from experiments import train_ppo
from experiments.best_response import Arguments, measure, tables
from experiments.responders import Budget, Victim, trainings

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

CLOCK = ("seconds", "command")


@pytest.fixture
def arguments(tmp_path) -> Arguments:
    return Arguments(
        game="bestia",
        policies=("net:bestia-4", "sound"),
        kinds=("one",),
        starts=("scratch",),
        runs=tmp_path / "runs",
        out=tmp_path / "out.json",
        smoke=True,
    )


def timeless(rows: list[dict]) -> list[dict]:
    """Without what the clock says, and where a run lies."""
    return [
        {
            **row,
            "provenance": None,
            "candidates": [
                {name: value for name, value in candidate.items() if name not in CLOCK}
                for candidate in row["candidates"]
            ],
        }
        for row in rows
    ]


def test_an_interrupted_run_goes_on(arguments, tmp_path, monkeypatch):
    whole, _ = measure(
        dataclasses.replace(arguments, runs=tmp_path / "whole", out=tmp_path / "whole.json")
    )
    update, calls = train_ppo.Ppo.update, []

    def interrupted(learner):
        calls.append(learner)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return update(learner)

    monkeypatch.setattr(train_ppo.Ppo, "update", interrupted)
    with pytest.raises(SystemExit) as caught:
        script.main(arguments)
    assert caught.value.code == 130
    assert len(json.loads(arguments.out.read_text())) == 1
    rows, out = measure(arguments)
    assert timeless(rows) == timeless(whole)
    assert rows == json.loads(out.read_text())
    for path in (tmp_path / "whole").glob("*/policy.safetensors"):
        other = arguments.runs / path.parent.name / path.name
        assert other.read_bytes() == path.read_bytes()
    monkeypatch.setattr(train_ppo, "train", lambda _: 1 / 0)
    assert measure(arguments) == (rows, out)


def test_rows_of_other_weights_go_and_other_budgets_stay(arguments):
    arguments = dataclasses.replace(arguments, policies=("sound",))
    (row,), out = measure(arguments)
    stale = {**row, "digest": "0" * 8}
    other = {**row, "kind": "coalition"}
    out.write_text(json.dumps([other, stale, {**stale, "kind": "coalition"}]))
    rows, _ = measure(arguments)
    assert [timeless([r])[0] for r in rows] == timeless([other, row])
    rows, _ = measure(dataclasses.replace(arguments, seed=5))
    assert [r["seed"] for r in rows] == [0, 0, 5]


def test_the_responder_is_chosen_on_other_deals_than_it_is_measured_on(arguments, monkeypatch):
    seen = []
    gain = script._gain

    def noted(arguments, job, responder, validating):
        seen.append((responder.spec, validating))
        score = gain(arguments, job, responder, validating)
        return dataclasses.replace(score, mean=float("tight" == responder.spec))

    monkeypatch.setattr(script, "_gain", noted)
    changes = {"policies": ("sound",), "responders": ("knock if trumps >= 2", "tight")}
    (row,), _ = measure(dataclasses.replace(arguments, **changes))
    assert row["responder"] == "tight"
    assert seen[-1] == ("tight", False)
    assert all(validating for _, validating in seen[:-1])
    assert len(row["candidates"]) == len(seen) - 1 == 2 + 6 + 1 + 2


@pytest.mark.parametrize("kind", ["one", "coalition"])
def test_a_victim_loses_nothing_to_its_likes_but_by_chance(arguments, kind):
    arguments = dataclasses.replace(arguments, deals=400)
    for spec, most in (("sound", 0), ("net:bestia-4", 0.01)):
        victim = Victim(parse_policy(spec, "bestia", 4), 4)
        score = script._gain(arguments, (victim, kind), victim.policy, validating=False)
        assert abs(score.mean) <= most


def test_a_coalition_gains_what_its_victim_loses(arguments):
    victim = Victim(parse_policy("doctor", "bestia", 4), 4)
    arguments = dataclasses.replace(arguments, deals=400)
    responder = parse_policy("sound", "bestia", 4)
    score = script._gain(arguments, (victim, "coalition"), responder, validating=False)
    lost = one_against_field(victim.policy, responder, 400, arguments.deals_seed)
    assert score.mean == -lost.mean > 0.1
    assert score.half_width == lost.half_width


def test_a_coalition_is_trained_at_all_seats_but_one_and_shares(arguments):
    victim = Victim(parse_policy("net:beast-4", "beast", 4), 4)
    budget = Budget(0, 3, ("warm", "scratch"))
    assert budget.steps_for(victim) == victim.own_steps > 30_000_000
    for kind, seats in (("one", (1, 0, False)), ("coalition", (0, 1, True))):
        plans = trainings(victim, kind, budget)
        for training in plans.values():
            assert (training.alone, training.joined, training.shared) == seats
            assert training.opponents == ("net:beast-4=1",)
            assert (training.hidden, training.seed) == ((256, 128), 3)
        assert [plan.start for plan in plans.values()] == ["net:beast-4", ""]


def test_what_is_shown():
    def row(victim, kind, mean, validation, steps=12_000_000, own=None, **more):
        return {
            "game": "bestia", "num_players": 4, "victim": victim, "kind": kind,
            "gain": {"mean": mean, "half_width": 0.001}, "own_steps": own, "steps": steps,
            "responder": "trained, warm",
            "candidates": [{"validation": {"mean": validation}}, {"validation": {"mean": -1}}],
        }  # fmt: skip

    rows = [
        row("net:bestia-4", "one", 0.004, 0.005, 1_000_000, own=12_000_000),
        row("net:bestia-4", "one", 0.003, 0.006, own=12_000_000),
        row("net:bestia-4", "coalition", -0.002, 0.001, 1_000_000, own=12_000_000),
        row("sound", "one", 0.012, 0.01),
        row("random", "one", 0.3, 0.3),
        row("bids:bestia-4", "one", 0.004, 0.3),
    ]
    assert tables(rows) == [
        "| Bestia, 4 players | one gains | 3 gain together | decisions |",
        "|---|---|---|---|",
        "| net:bestia-4 | +0.0030 ± 0.0010 (trained, warm) | -0.0020 ± 0.0010 (found none) "
        "| 12.0 M, 1.0 M* |",
        "| sound | +0.0120 ± 0.0010 (trained, warm) |  | 12.0 M |",
        "| random | +0.3000 ± 0.0010 (trained, warm) |  | 12.0 M |",
        "| bids:bestia-4 | +0.0040 ± 0.0010 (trained, warm) |  | 12.0 M |",
        "",
        "net:bestia-4: 0.0030 is within a quarter of what one gains against the least exploited "
        "baseline, sound: 0.0120",
        "bids:bestia-4: 0.0040 is beyond a quarter of what one gains against the least exploited "
        "baseline, sound: 0.0120",
        "",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("game", ["bestia", "beast"])
@pytest.mark.parametrize("kind", ["one", "coalition"])
def test_a_learner_finds_what_a_weak_victim_does_wrong(game, kind, arguments, tmp_path):
    victim = Victim(parse_policy("random", game, 4), 4)
    training = trainings(victim, kind, Budget(400_000, 1, ("scratch",)))["scratch"]
    often = {"run_dir": tmp_path / "run", "steps_per_update": 8192, "batch_size": 1024}
    path = train_ppo.train(dataclasses.replace(training, **often))
    learner = parse_policy(f"net:{path}", game, 4)
    arguments = dataclasses.replace(arguments, deals=2000)
    assert script._gain(arguments, (victim, kind), learner, validating=False).low > 0.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": ("bestia-99",)}, "unknown policy 'bestia-99' for bestia"),
        ({"policies": ("net:beast-4",)}, "plays beast, not bestia"),
        ({"policies": ("net:bestia-5",)}, "plays bestia with 5 players, not 4"),
        ({"game": "all"}, "the policies are of one game: name it"),
        ({"num_players": 11}, "num_players of bestia must be"),
        ({"num_players": 2, "policies": ("sound",)}, "num_players of bestia must be"),
        (
            {"num_players": 7, "policies": ("sound",), "starts": ("warm",)},
            "bestia, 7 players: sound has no network to start from: take --starts scratch",
        ),
        ({"responders": ("net:bestia-5",)}, "plays bestia with 5 players, not 4"),
        ({"deals": 1, "smoke": False}, "deals must be an integer from 2"),
        ({"validation_deals": 0, "smoke": False}, "validation_deals must be an integer from 2"),
        ({"steps": -1, "smoke": False}, "steps must be an integer from 0"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"deals_seed": 0}, "deals_seed must be neither the seed of the trainings, 0, nor that"),
        ({"deals_seed": script.VALIDATION_SEED}, "deals_seed must be neither"),
        ({"jobs": 0}, "jobs must be an integer from 1"),
        ({"kinds": ()}, "kinds must be at least one and different"),
        ({"starts": ("warm", "warm")}, "starts must be at least one and different"),
    ],
)
def test_bad_arguments_exit_with_2(changes, message, arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        script.main(dataclasses.replace(arguments, **changes))
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and message in said
    assert not arguments.out.exists() and not arguments.runs.exists()


@pytest.mark.parametrize("content", ["{", "null", "[1]", "[{}]", "[" * 100_000])
def test_a_damaged_file_is_named(content, arguments, capsys):
    arguments.out.write_text(content)
    with pytest.raises(SystemExit):
        script.main(arguments)
    assert "out.json holds no figures of this kind: delete it" in capsys.readouterr().err
