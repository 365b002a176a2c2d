from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.search import cheat, ismcts, pimc


@pytest.mark.parametrize(
    ("make", "setting"),
    [
        (pimc.make_room, ("bestia", 4, 2, 1)),
        (ismcts.make_room, ("bestia", 4, 5)),
        (cheat._room, ("bestia", 4)),
    ],
)
def test_no_two_threads_work_in_one_room(make, setting):
    mine = make(*setting)
    assert make(*setting) is mine
    with ThreadPoolExecutor(1) as other:
        theirs = [other.submit(make, *setting).result() for _ in range(2)]
    assert theirs[0] is theirs[1] is not mine
    assert make("beast", *setting[1:]) is not mine
