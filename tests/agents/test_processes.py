"""Work in pieces."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
@pytest.mark.parametrize("gap", [0.02, 0.1])
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


def is_running(process: int) -> bool:
    """Zombies, which nobody has waited for, are not."""
    stat = Path(f"/proc/{process}/stat")
    try:
        os.kill(process, 0)
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
