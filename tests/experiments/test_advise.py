import pytest

from agents.estimates import PER_DECISION
from agents.policies import parse_policy
from experiments import advise
from experiments.advise import main

pytestmark = pytest.mark.slow  # its kernels take minutes to compile

CARDS = ["--game", "bestia", "--policy", "sound", "--worlds", "200"]


def test_sure_tricks_are_worth_a_knock(capsys):
    main([*CARDS, "--hand", "At 3t 7c", "--upcard", "Rd", "--history", "pass"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Bestia, 4 players: seat 2 of 4 from the eldest on"
    assert lines[3].startswith("KNOCK") and lines[3].endswith("100%")
    assert lines[4].startswith("PASS") and lines[4].endswith(" 0%")
    assert " ".join(lines[5:]) == f"{PER_DECISION}."


def test_bidding_that_hardly_ever_happens_is_said_to_be(capsys):
    cards = ["--hand", "2t 4t 7c", "--upcard", "Rd", "--history", "knock"]
    main([*CARDS[:2], "--policy", "doctor", "--worlds", "50", *cards])
    assert "only 0 of 50 deals fit what has been said" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--hand", "At Ad 7c", "--upcard", "Rd"], "error: hand holds Ad twice"),
        (["--hand", "At 3d 7c", "--upcard", "Rx"], "error: unknown card 'Rx'"),
        (["--hand", "At 3d 7c", "--upcard", "Rd", "--num-players", "11"], "error: num_players"),
        (["--hand", "At 3d 7c", "--upcard", "Rd", "--worlds", "1"], "error: num_worlds"),
    ],
)
def test_wrong_arguments_end_in_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*CARDS, *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize(
    ("game", "num_players", "spec"),
    [
        ("bestia", 4, "bids:bestia-4"),
        ("bestia", 6, "net:bestia-6"),
        ("bestia", 9, "sound"),
        ("beast", 5, "net:beast-5"),
    ],
)
def test_every_table_has_somebody_who_bids_on(game, num_players, spec):
    assert advise._usual(game, num_players) == spec
    assert parse_policy(spec, game, num_players).spec == spec
