"""Play at a table with policies, in a browser: `make play`.

The page is served to this machine alone unless a host is given. Every table is kept in
`runs/play/`, and is there again when the program is started the next time.
"""

from __future__ import annotations

import errno
import ipaddress
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from experiments.command_line import ends_cleanly, runs_folder

THREADS = 8
MOST_BYTES = 1 << 20  # of a request; what is longer never reaches the application


@dataclass(frozen=True)
class Arguments:
    """Play at a table with policies, in a browser."""

    port: int = 8000
    """Where the page is; 0 for any free port."""
    host: str = "127.0.0.1"
    """Who may see it: this machine alone, unless another address of it is given."""
    folder: Path | None = None
    """Where the tables are kept; runs/play if none is given."""


def main(arguments: Arguments) -> None:
    """Serve until interrupted; exits with 2 if something is wrong with the arguments."""
    with ends_cleanly("the tables are kept"):
        server = open_server(arguments)
        from experiments.play.advising import warm_up

        for url in addresses(server):
            print(f"play at {url}", flush=True)
        if not is_loopback(arguments.host):
            print(
                f"warning: {arguments.host} is no loopback address: whoever reaches this machine "
                "can play, see any table whose address he knows, and use its processor",
                file=sys.stderr,
            )
        print("Ctrl-C ends it; the tables are kept", flush=True)
        threading.Thread(target=warm_up, daemon=True).start()
        server.run()
    print("\nended")


def open_server(arguments: Arguments) -> Any:
    """A server of waitress's that listens; `run` serves until interrupted.

    Raises:
        ValueError: an argument is out of range.
        OSError: the port is in use or not allowed, or the folder cannot be written to.
    """
    from agents.reports import check_writable
    from bestia_env.rules.table import check_coins

    check_coins("port", arguments.port, least=0, most=65535)
    folder = arguments.folder or runs_folder(False) / "play"
    check_writable(folder)

    from waitress.server import create_server

    from experiments.play.app import LOOPBACK_NAMES, create_app
    from experiments.play.tables import Tables

    app = create_app(Tables(folder), LOOPBACK_NAMES if is_loopback(arguments.host) else None)
    try:
        return create_server(
            app,
            host=arguments.host,
            port=arguments.port,
            threads=THREADS,
            max_request_body_size=MOST_BYTES,
        )
    except (OSError, ValueError) as error:
        raise OSError(_why_not(arguments, error)) from None


def is_loopback(host: str) -> bool:
    """Does only this machine reach it?"""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def addresses(server: Any) -> list[str]:
    """Where the page is; a name may stand for several addresses."""
    listening = getattr(server, "effective_listen", None) or [
        (server.effective_host, server.effective_port)
    ]
    return [f"http://{f'[{host}]' if ':' in host else host}:{port}/" for host, port in listening]


def _why_not(arguments: Arguments, error: OSError | ValueError) -> str:
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        return f"port {arguments.port} is in use: choose another by --port, or 0 for any free one"
    why = getattr(error, "strerror", None) or error
    return f"the page cannot be at {arguments.host}, port {arguments.port}: {why}"


if __name__ == "__main__":
    main(tyro.cli(Arguments, prog="python -m experiments.play"))
