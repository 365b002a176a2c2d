"""Work in pieces on a Ray cluster, or on a Ray of this machine's own.

Ray is imported only when a cluster is asked for. A piece whose worker or node was lost is done
again elsewhere; since what comes of it depends on the piece alone, nothing changes. Nodes share no
files: each needs this checkout, and its kernels are compiled there once.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from agents.processes import Work

RETRIES = 100  # of a piece, each after the loss of whoever did it
_AHEAD = 4  # pieces a worker that are sent before they can be done
_STORE = 256 << 20  # bytes for what workers share, on a Ray of this machine's own
_LOOPBACK = "127.0.0.1"
_PATIENCE = 10  # seconds


class Cluster:
    """A Ray that is connected: `agents.processes.in_order` takes it in place of a number of jobs.

    Attributes:
        ray: the library.
    """

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def num_cpus(self) -> int:
        """How many there are now on all nodes together, at least 1."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    def in_order(self, work: Work, common: tuple, pieces: Sequence[Any]) -> Iterator[Any]:
        """What `work(*common, piece)` returns for every piece, in order whoever did it."""
        task = self.ray.remote(max_retries=RETRIES)(_work)
        shared, waiting = self.ray.put(common), deque[Any]()
        try:
            for piece in pieces:
                if len(waiting) >= _AHEAD * self.num_cpus():
                    yield self.ray.get(waiting.popleft())
                waiting.append(task.remote(work, shared, piece))
            while waiting:
                yield self.ray.get(waiting.popleft())
        finally:
            for left in waiting:
                self.ray.cancel(left)


@contextlib.contextmanager
def connected(address: str = "", num_cpus: int = 1) -> Iterator[Cluster]:
    """Connect to Ray, and disconnect in the end unless somebody had connected before.

    Args:
        address: of a cluster's head, HOST:PORT; "" starts a Ray on this machine's loopback, which
            ends with it.
        num_cpus: of that one.

    Raises:
        ValueError: Ray is not installed.
        ConnectionError: no cluster is at the address.
    """
    if not address:
        _lock_out_others()
    ray = _imported()
    if ray.is_initialized():
        yield Cluster(ray)
        return
    options: dict[str, Any] = {"address": address}
    if address:
        _check_answers(address)
    else:
        options = {
            "address": "local",
            "num_cpus": num_cpus,
            "object_store_memory": _STORE,
            "include_dashboard": False,
            "_node_ip_address": _LOOPBACK,
        }
    ray.init(**options, log_to_driver=False, logging_level="ERROR")
    try:
        yield Cluster(ray)
    finally:
        ray.shutdown()


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would call home
    try:
        import ray
    except ImportError:
        raise ValueError(
            "Ray is not installed here: `make install-rllib` makes .venv-rllib, an environment of "
            "its own, since Ray's RLlib wants another gymnasium than the rest"
        ) from None
    return ray


def _check_answers(address: str) -> None:
    """Raise a ConnectionError unless somebody listens there; Ray would try for many minutes."""
    from ray._private.services import canonicalize_bootstrap_address  # 127.0.0.1 is another to Ray

    try:
        host, _, port = (canonicalize_bootstrap_address(address) or address).rpartition(":")
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no cluster of Ray is at {address!r}: {error}") from None


def _lock_out_others() -> None:
    """Ray's ports are open to the network whatever the address; a secret keeps others out.

    Ray looks for it when it is imported, and after that no more.
    """
    if "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


def _work(work: Work, common: tuple, piece: Any) -> Any:
    return work(*common, piece)
