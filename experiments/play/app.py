"""The pages and what they ask for, over HTTP."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, jsonify, make_response, render_template, request
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import HTTPException

from bestia_env.records import Record
from experiments.play import advising
from experiments.play.messages import MAX_BYTES, Refusal, quoted, read_message
from experiments.play.session import Outdated, Session
from experiments.play.settings import FIELDS, Settings, choices
from experiments.play.shown import frame, shown
from experiments.play.tables import Tables
from experiments.play.words import ME
from experiments.replay_page import replay_page

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class _InOrder(DefaultJSONProvider):
    """Fields as they are given, not sorted by name."""

    sort_keys = False


def create_app(tables: Tables, hosts: frozenset[str] | None = LOOPBACK_NAMES) -> Flask:
    """The application.

    Args:
        tables: where everybody plays.
        hosts: the names by which it may be called; None for any. A page elsewhere whose own name
            is made to lead here is refused by them.
    """
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
    app.json = _InOrder(app)
    app.before_request(lambda: _check_request(hosts))
    app.after_request(_with_headers)
    app.register_error_handler(Refusal, _refusal)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(OSError, _disk_error)
    _add_pages(app, tables)
    _add_play(app, tables)
    _add_records(app, tables)
    return app


# What holds of every request.


def _check_request(hosts: frozenset[str] | None) -> None:
    """Refuse what other pages make a browser send.

    Raises:
        Refusal: the request came by another name, or from another page.
    """
    if hosts is not None and _host_name() not in hosts:
        allowed = ", ".join(sorted(hosts))
        raise Refusal(403, f"Host must be one of {allowed}, not {quoted(request.host)}")
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"{request.scheme}://{request.host}":
        raise Refusal(403, f"Origin must be this page's own, not {quoted(origin)}")
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if site not in ("same-origin", "none"):
        raise Refusal(403, f"Sec-Fetch-Site must be same-origin, not {quoted(site)}")


def _host_name() -> str | None:
    """The Host header without its port."""
    with contextlib.suppress(ValueError):
        return urlsplit(f"//{request.host}").hostname
    return None


def _message(fields: dict[str, type]) -> dict[str, Any]:
    """The request's JSON, see `read_message`."""
    if request.mimetype != "application/json":
        kind = quoted(request.headers.get("Content-Type", ""))
        raise Refusal(415, f"Content-Type must be application/json, not {kind}")
    return read_message(request.get_data(), fields)


def _with_headers(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers[name] = value
    return response


def _refusal(error: Refusal) -> Response:
    return _error(error.status, error.message, error.field)


def _http_error(error: HTTPException) -> Response:
    """What Flask and Werkzeug refuse."""
    status = error.code or 500
    messages = {
        404: f"there is no page {quoted(request.path)}",
        405: f"{request.method} is not for {quoted(request.path)}",
        413: f"a message must have at most {MAX_BYTES} bytes",
    }
    response = _error(status, messages.get(status, error.description or error.name))
    for name, value in error.get_headers():
        if name == "Allow":
            response.headers[name] = value
    return response


def _disk_error(error: OSError) -> Response:
    return _error(503, f"the table cannot be read or written: {error.strerror or error}")


def _error(status: int, message: str, field: str | None = None) -> Response:
    """JSON for scripts, a page for people."""
    if request.path.startswith("/api/"):
        content: Any = jsonify(error=message, field=field)
    else:
        name = HTTPStatus(status).phrase
        content = render_template("error.html", status=status, name=name, message=message)
    return make_response(content, status)


# Pages.


def _add_pages(app: Flask, tables: Tables) -> None:
    @app.get("/")
    def start() -> str:
        return render_template("start.html")

    @app.get("/table/<name>")
    def table(name: str) -> str:
        with tables.seated(name) as session:
            return render_template("table.html", name=name, settings=session.settings)


# Play.


def _add_play(app: Flask, tables: Tables) -> None:
    advisers = threading.Semaphore()  # advice is dear: one at a time

    @app.get("/api/choices")
    def api_choices() -> Response:
        return jsonify(choices())

    @app.post("/api/tables")
    def api_set_up() -> Response:
        name = tables.set_up(Settings.read(_message(FIELDS)))
        return make_response(jsonify(name=name, url=f"/table/{name}"), 201)

    @app.get("/api/tables/<name>")
    def api_table(name: str) -> Response:
        with tables.seated(name) as session:
            return jsonify(shown(session))

    @app.post("/api/tables/<name>/act")
    def api_act(name: str) -> Response:
        message = _message({"action": int, "seen": int})
        with tables.seated(name) as session:
            return _play(session, lambda: session.act(message["action"], message["seen"]))

    @app.post("/api/tables/<name>/next")
    def api_next(name: str) -> Response:
        seen = _message({"seen": int})["seen"]
        with tables.seated(name) as session:
            return _play(session, lambda: session.begin_next_hand(seen))

    @app.post("/api/tables/<name>/others")
    def api_others(name: str) -> Response:
        seen = _message({"seen": int})["seen"]
        with tables.seated(name) as session:
            return _play(session, lambda: session.check_seen(seen))

    @app.post("/api/tables/<name>/advice")
    def api_advice(name: str) -> Response:
        seen = _message({"seen": int})["seen"]
        with tables.seated(name) as session:
            try:
                question = session.question(seen)
            except Outdated as error:
                return _outdated(session, error)
        with advisers:
            return jsonify(advising.answer(question))


def _play(session: Session, move: Callable[[], None]) -> Response:
    """The person's move and the others' answers, one frame each."""
    try:
        move()
    except Outdated as error:
        return _outdated(session, error)
    frames = [frame(session), *(frame(session) for _ in session.others_act())]
    return jsonify(shown(session, frames))


def _outdated(session: Session, error: Outdated) -> Response:
    """With how things stand, so that the page can go on from there."""
    answer = jsonify(error=error.message, field=error.field, state=shown(session))
    return make_response(answer, error.status)


# Hands that are over, all cards open.


def _add_records(app: Flask, tables: Tables) -> None:
    @app.get("/table/<name>/hands.jsonl")
    def hands(name: str) -> Response:
        with tables.seated(name) as session:
            records = list(session.records)
        lines = "".join(f"{record.to_json()}\n" for record in records)
        return _download(lines, "application/jsonl", f"{name}.jsonl")

    @app.get("/table/<name>/hands/<number>.json")
    def hand(name: str, number: str) -> Response:
        with tables.seated(name) as session:
            record = _record(session, number)
        return _download(f"{record.to_json()}\n", "application/json", f"{name}-{number}.json")

    @app.get("/table/<name>/hands/<number>.html")
    def replay(name: str, number: str) -> Response:
        with tables.seated(name) as session:
            record = _record(session, number)
        page = replay_page(record, seat=ME)
        return _download(page, "text/html", f"{name}-{number}.html")


def _record(session: Session, number: str) -> Record:
    """The record of a hand, counted from 1."""
    done = len(session.records)
    if not re.fullmatch("[1-9][0-9]{0,8}", number) or int(number) > done:
        raise Refusal(404, f"hand must be from 1 to {done}, which are over, not {quoted(number)}")
    return session.records[int(number) - 1]


def _download(content: str, kind: str, file: str) -> Response:
    """A file; never shown as a page of this site."""
    return Response(
        content, mimetype=kind, headers={"Content-Disposition": f'attachment; filename="{file}"'}
    )
