import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from agents.policies import parse_policy
from bestia_env.records import check, read_records
from experiments.record import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("game", "rules"), [("beast", ["revoke=penalty"]), ("bestia", ["force=true", "maxims=mask"])]
)
def test_a_session_is_written_hand_by_hand(game: str, rules: list[str], tmp_path: Path) -> None:
    out = tmp_path / "new" / "hands.jsonl"
    arguments = ["--game", game, "--num-players", "5", "--policies", "bold", "random"]
    main([*arguments, "--hands", "8", "--seed", "3", "--rules", *rules, "--out", str(out)])
    records = read_records(out)
    assert [record.hand_number for record in records] == list(range(8))
    assert records[0].players == ("bold", "random", "bold", "random", "bold")
    for record in records:
        check(record)
        assert record.seed == 3
    for before, after in itertools.pairwise(records):
        assert after.dealer == (before.dealer + 1) % 5
        assert after.pot == before.pot_after
        paid = zip(before.coins, before.gains, strict=True)
        assert after.coins == tuple(coins + gain for coins, gain in paid)

    written = out.read_bytes()
    main([*arguments, "--hands", "8", "--seed", "3", "--rules", *rules, "--out", str(out)])
    assert out.read_bytes() == written
    main([*arguments, "--hands", "8", "--seed", "4", "--rules", *rules, "--out", str(out)])
    assert out.read_bytes() != written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policies", "sound", "nobody"], "unknown policy 'nobody' for bestia"),
        (["--policies", "knock if " + "1 < 2 and " * 40 + "1 < 2"], "of at most 300 printable"),
        (["--policies", *["random"] * 5], "policies must be at most 4, one for each seat, not 5"),
        (["--policies", "net:gone.safetensors"], "there is no file gone.safetensors"),
        (["--num-players", "11"], "num_players of bestia must be an integer from 3 to 10, not 11"),
        (["--hands", "0"], "hands must be an integer from 1 to 100000, not 0"),
        (["--seed", "-1"], "seed must be an integer from 0"),
        (["--rules", "stake=4"], "stake must be"),
        (["--out", "file/hands.jsonl"], "file"),
    ],
)
def test_a_bad_command_line_ends_with_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(SystemExit) as ended:
        main(["--game", "bestia", *arguments])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["record", "replay"])
def test_help_and_misspelt_flags_load_nothing_heavy(command: str) -> None:
    code = (
        "import sys\n"
        f"from experiments.{command} import main\n"
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


def test_a_rule_of_several_lines_is_recorded_in_one(tmp_path: Path) -> None:
    out = tmp_path / "hands.jsonl"
    rule = "# mine\nknock if trumps > 1  # two\n\nexchange\n"
    main(["--game", "bestia", "--policies", rule, "bold", "--hands", "1", "--out", str(out)])
    player = read_records(out)[0].players[0]
    again = parse_policy(player, "bestia", 4).program
    for part, other in zip(again, parse_policy(rule, "bestia", 4).program, strict=True):
        assert part.tolist() == other.tolist()
