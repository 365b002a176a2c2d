import csv
import json
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from agents import arena, duplicate, reports
from agents.estimates import PER_DEAL, PER_DECISION
from experiments.arena import main
from experiments.strategies import tables

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--game", "bestia", "--policies", "random", "net:FILE", "--deals", "40"]


@pytest.fixture
def small(tmp_path: Path) -> list[str]:
    """Arguments of a small comparison, one of whose policies is a network."""
    from agents.networks import Network, save_network
    from bestia_env.games import GAMES
    from bestia_env.observe import layout

    matrix = np.zeros((GAMES["bestia"].num_actions, layout("bestia", 4).size), np.float32)
    network = Network("bestia", 4, ((matrix, np.zeros(len(matrix), np.float32)),))
    save_network(tmp_path / "flat.safetensors", network)
    return [word.replace("FILE", str(tmp_path / "flat.safetensors")) for word in SMALL]


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_all_results_are_written_and_hold_the_same_numbers(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "a" / "b"
    rules = ["--rules", "maxims=penalty", "force=true"]
    main([*small, "--seed", "7", "--pot", "2", "--out", str(out), *rules])
    assert files(out) == {"arena.json", "matrix.csv", "ranking.csv", "arena.png"}

    facts = json.loads((out / "arena.json").read_text())
    assert (facts["seed"], facts["pot"], facts["num_deals"]) == (7, 2, 40)
    assert facts["rules"]["maxims"] == "penalty"
    assert facts["rules"]["force"] is True
    assert facts["hands"] == 5 * 40 * 4
    assert facts["versions"]["numba"]
    assert list(facts["networks_sha256"]) == [str(tmp_path / "flat.safetensors")]

    cells = table(out / "matrix.csv")
    assert [(cell["policy"], cell["field"]) for cell in cells] == [
        (a, b) for a in facts["policies"] for b in facts["policies"]
    ]
    flat = [cell for row in facts["matrix"] for cell in row]
    assert [float(cell["mean"]) for cell in cells] == [cell["mean"] for cell in flat]
    ranking = table(out / "ranking.csv")
    assert [line["policy"] for line in ranking] == [row["policy"] for row in facts["ranking"]]
    assert [float(line["rating"]) for line in ranking] == [
        row["rating"]["points"] for row in facts["ranking"]
    ]

    height, width, _ = matplotlib.image.imread(out / "arena.png").shape
    assert height > 300
    assert width > 600

    printed = capsys.readouterr().out
    assert "seed 7" in printed
    assert f"{flat[1]['mean']:+.4f}" in printed
    assert str(out / "arena.json") in printed.replace("\n", "")


def test_the_command_in_the_results_gives_them_again(
    small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(small)
    (first,) = (tmp_path / "runs/arena").iterdir()
    facts = json.loads((first / "arena.json").read_text())
    assert first.name.startswith(f"bestia-4p-seed{facts['seed']}-")
    command = facts["command"].split()
    assert command[:3] == ["python", "-m", "experiments.arena"]
    main([*command[3:], "--out", "again"])
    again = json.loads((tmp_path / "again" / "arena.json").read_text())
    for key in ("seed", "matrix", "ranking", "rules"):
        assert again[key] == facts[key]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policies", "random", "nobody"], "unknown policy 'nobody' for bestia: choose among ra"),
        (["--policies", "random", "random"], "policy 'random' is the same as 'random'"),
        (
            ["--policies", "threshold:0.4", "threshold:0.40"],
            "policy 'threshold:0.40' is the same as 'threshold:0.4'",
        ),
        (["--policies", "random"], "at least two policies, not only 'random'"),
        (["--deals", "1"], "deals must be an integer from 2"),
        (["--jobs", "0"], "jobs must be an integer from 1"),
        (["--pot", "0"], "pot must be an integer from 1"),
        (["--seed", "-1"], "seed must be an integer from 0"),
        (["--num-players", "2"], "num_players of bestia must be an integer from 3 to 10, not 2"),
        (["--rules", "maxims=no"], "maxims must be one of"),
        (["--out", "blocked/deeper"], "blocked"),
    ],
)
def test_bad_arguments_end_with_2_and_a_line_that_says_why(
    small: list[str],
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(arena, "compare", lambda *_, **__: pytest.fail("played"))
    (tmp_path / "blocked").write_text("a file")
    start = small[:2] if "--policies" in arguments else small
    with pytest.raises(SystemExit) as ended:
        main([*start, *arguments])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_nothing_is_written_when_a_part_fails(
    small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_result: object) -> bytes:
        raise RuntimeError("no picture")

    monkeypatch.setattr(reports, "picture", fail)
    with pytest.raises(RuntimeError, match="no picture"):
        main([*small, "--out", str(tmp_path / "out")])
    assert files(tmp_path / "out") == set()


def test_an_interrupt_leaves_nothing_behind(
    small: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(duplicate, "played", interrupt)
    with pytest.raises(SystemExit) as ended:
        main([*small, "--out", str(tmp_path / "out")])
    assert ended.value.code == 130
    assert "stopped: nothing was written" in capsys.readouterr().err
    assert files(tmp_path / "out") == set()


def test_help_and_misspelt_flags_load_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from experiments.arena import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as end:\n"
        "    print(end.code, {'numpy', 'numba', 'matplotlib', 'torch'} & set(sys.modules))\n"
    )
    for argument, code_expected in (("--help", 0), ("--gaem", 2)):
        done = subprocess.run(
            [sys.executable, "-c", code, argument], cwd=ROOT, capture_output=True, text=True
        )
        assert done.stdout.endswith(f"{code_expected} set()\n"), done.stderr
        assert "Traceback" not in done.stderr


def test_names_of_networks_are_shortened_where_that_is_clear() -> None:
    specs = ["random", "net:a/one.safetensors", "net:a/two.safetensors", "net:b/two.safetensors"]
    assert reports.labels(specs) == ["random", "net:one", *specs[2:]]


def test_numbers_carry_a_sign_but_not_a_zero_minus() -> None:
    assert reports.signed(-0.0004) == "+0.000"
    assert reports.signed(-0.0014) == "−0.001"
    assert reports.signed(12.6, "+.0f") == "+13"


def test_one_bad_policy_takes_not_all_the_colours() -> None:
    means = np.full((4, 4), 0.01)
    means[3] = -2
    assert reports.colour_limit(np.full((2, 2), 0.3)) == 0.3
    assert reports.colour_limit(means) == pytest.approx(0.1)
    assert reports.colour_limit(np.zeros((2, 2))) > 0


def test_the_tables_say_who_sits_where_and_what_a_figure_is() -> None:
    assert PER_DEAL in reports.MATRIX_NOTE
    assert PER_DECISION in tables.WORTH_NOTE and PER_DEAL in tables.PAIRED_NOTE
    assert PER_DEAL.partition(";")[0] == PER_DECISION.partition(";")[0]
