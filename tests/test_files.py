"""Files written whole, and files read that anybody may have named."""

import os
import socket

import numpy as np
import pytest

from bestia_env.files import (
    check_replaceable,
    read_arrays,
    read_bounded,
    write_arrays,
    write_whole,
)

PLAIN = "it is no plain file"


@pytest.fixture(params=["folder", "pipe", "socket"])
def odd(request, tmp_path, monkeypatch):
    """Something that is no plain file."""
    path = tmp_path / "odd"
    if request.param == "folder":
        path.mkdir()
    elif not hasattr(os, "mkfifo"):
        pytest.skip("this system has neither pipes nor sockets in folders")
    elif request.param == "pipe":
        os.mkfifo(path)
    else:
        monkeypatch.chdir(tmp_path)  # a socket's path must be short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("odd")
    return path


def test_nothing_but_a_plain_file_is_replaced(odd, tmp_path):
    before = odd.lstat()
    for refuse in (check_replaceable, lambda path: write_whole(path, b"new")):
        with pytest.raises(OSError, match=PLAIN):
            refuse(odd)
    assert odd.lstat() == before
    assert os.listdir(tmp_path) == ["odd"]


def test_a_link_is_replaced_and_what_it_leads_to_stays(odd, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(odd)
    before = odd.lstat().st_mode
    write_whole(link, b"new")
    assert link.read_bytes() == b"new" and not link.is_symlink()
    assert odd.lstat().st_mode == before


def test_nothing_but_a_plain_file_is_read(odd):
    with pytest.raises(OSError) as caught:
        read_bounded(odd, 10)
    assert str(caught.value.filename).endswith("odd")


def test_a_file_is_read_up_to_its_most(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"1234567890")
    assert read_bounded(path, 10) == b"1234567890"
    with pytest.raises(OSError, match="more than 9 bytes"):
        read_bounded(path, 9)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "none", 9)


def test_arrays_come_back_and_damage_is_named(tmp_path):
    path = tmp_path / "some.npz"
    write_arrays(path, word="x", numbers=np.arange(3))
    found = read_arrays(path, 10_000)
    assert str(found["word"]) == "x"
    assert found["numbers"].tolist() == [0, 1, 2]
    for content in (path.read_bytes()[:-9], b"", b"rubbish"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"some\.npz is damaged: delete it"):
            read_arrays(path, 10_000)
