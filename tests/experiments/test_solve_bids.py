import pytest

from agents.bids.table import load_table
from agents.policies import parse_policy
from experiments import solve_bids

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

TINY = ["bestia-3", "--cards", "sound", "--deals", "50", "--judge-deals", "200", "--warm", "1"]


def solve(folder, *arguments: str) -> None:
    solve_bids.main([*TINY, "--run", str(folder), *arguments])


def test_a_stopped_run_goes_on_to_the_same_table(tmp_path, capsys):
    solve(tmp_path / "whole", "--iterations", "4")
    assert "NashConv from" in capsys.readouterr().out
    for iterations in ("2", "4"):
        solve(tmp_path / "stopped", "--iterations", iterations)
    tables = [
        load_table(tmp_path / run / "bestia-3.bids", "bestia", 3) for run in ("whole", "stopped")
    ]
    assert (tables[0].shares == tables[1].shares).all()
    facts = tables[0].facts
    assert facts["nash_conv"] == tables[1].facts["nash_conv"]
    assert facts["nash_conv"]["deals"] == 200
    assert (facts["seed"], facts["iterations"], facts["deals"]) == (0, 4, 200)
    assert facts["rules"]["stake"] == 3
    assert sum(facts["worths"]) == pytest.approx(0, abs=0.3)
    assert parse_policy(f"bids:{tmp_path / 'whole' / 'bestia-3.bids'}", "bestia", 3)


def test_bids_of_others_are_judged_on_the_same_deals(tmp_path, capsys):
    solve(tmp_path, "--iterations", "2")
    learnt = load_table(tmp_path / "bestia-3.bids", "bestia", 3)
    solve(tmp_path, "--bids", f"bids:{tmp_path / 'bestia-3.bids'}")
    judged = load_table(tmp_path / "bestia-3-judged.bids", "bestia", 3)
    assert (judged.shares == learnt.shares).all()
    assert judged.facts["nash_conv"] == learnt.facts["nash_conv"]
    assert judged.cards == "sound"
    solve(tmp_path, "--bids", "knock if trumps >= 2", "--asked-deals", "300")
    ruled = load_table(tmp_path / "bestia-3-judged.bids", "bestia", 3)
    assert set(ruled.shares) == {0, 255}
    assert ruled.facts["solver"] == "bids of knock if trumps >= 2"
    assert ruled.facts["nash_conv"]["high"] > learnt.facts["nash_conv"]["low"]
    assert capsys.readouterr().out.count("NashConv from") == 3


def test_a_folder_in_the_place_of_the_table_is_refused_at_once(tmp_path, capsys):
    (tmp_path / "bestia-3.bids").mkdir()
    with pytest.raises(SystemExit):
        solve(tmp_path, "--iterations", "2")
    assert "it is no plain file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bestia-3.bids"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bestia"], "a name is a game and its players"),
        (["bestia-11"], "num_players of bestia must be"),
        (["bestia-7", "--cards", "sound"], "bids of bestia are solved for 3 to 6 players"),
        (["bestia-3", "--cards", "knock if trumps >= 2"], "cards must be played by a baseline"),
        (["bestia-3", "--bids", "pimc"], "bids must be those of a table, a network"),
        (["bestia-3", "--bids", "bids:bestia-4"], "bids in bestia with 4 players, not in"),
        (["bestia-3", "--asked-deals", "0"], "asked_deals must be an integer from 1"),
        (["bestia-3", "--cards", "nobody"], "unknown policy 'nobody'"),
        (["bestia-3", "--warm", "5", "--iterations", "5"], "iterations must be an integer from 6"),
        (["bestia-3", "--out", "table.json"], "a table's name ends in .bids"),
        (["bestia-3", "--rules", "stake=4"], "stake must be"),
    ],
)
def test_wrong_arguments_end_in_one_line(arguments, message, capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        solve_bids.main([*arguments, "--run", str(tmp_path / "run")])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
