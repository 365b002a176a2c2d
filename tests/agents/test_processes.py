"""Work in pieces."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agents.processes import in_order


@pytest.fixture
def as_ever():
    """Interrupts are handled as in a program that says nothing of them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


PARENT = """
import os, time
from agents.processes import in_order
def work(piece):
    os.write(1, f"{os.getpid()}\\n".encode())  # whole, whoever else writes
    time.sleep(0.2 if piece else 0)
if __name__ == "__main__":
    list(in_order(work, (), [1] * 1000, 2, 0))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills so here")
def test_processes_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, env=environment, text=True
    ) as parent:
        assert parent.stdout is not None
        found: set[int] = set()
        while len(found) < 2:
            found |= {int(parent.stdout.readline())} - {parent.pid}
        parent.kill()
    until = time.monotonic() + 20
    while any(map(is_running, found)):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="interrupts are sent otherwise here")
@pytest.mark.parametrize("gap", [0, 0.0003, 0.02, 0.1])
def test_interrupted_twice_all_end(gap, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as parent:
        assert parent.stdout is not None
        for _ in range(6):
            parent.stdout.readline()
        parent.send_signal(signal.SIGINT)
        time.sleep(gap)
        parent.send_signal(signal.SIGINT)
        try:
            assert parent.wait(20) != 0
        finally:
            parent.kill()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="interrupts are sent otherwise here")
def test_an_interrupt_is_raised_once_wherever_the_work_is(as_ever):
    done = in_order(abs, (), [-1, -2, -3], 2, 0)
    assert next(done) == 1
    with pytest.raises(KeyboardInterrupt):  # between two pieces
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not multiprocessing.active_children()
    done.close()
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):  # while processes start or work
        list(in_order(time.sleep, (), [1] * 99, 2, 0))
    timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not multiprocessing.active_children()


def is_running(process: int) -> bool:
    """Zombies, which nobody has waited for, are not."""
    stat = Path(f"/proc/{process}/stat")
    try:
        os.kill(process, 0)
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
