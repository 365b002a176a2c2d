import json
import os

import numpy as np
import pytest

from agents import checkpoints
from agents.checkpoints import git_commit, load_checkpoint, save_checkpoint, versions

TENSORS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(1, np.float32)}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, TENSORS, {"seed": 7})
    return path


def test_what_was_saved_is_loaded(path):
    tensors, facts = load_checkpoint(path)
    assert facts["seed"] == 7
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], tensor)
    assert sorted(os.listdir(path.parent)) == ["net.json", "net.safetensors"]


def test_a_transposed_tensor_is_saved_right(tmp_path):
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, {"a": TENSORS["a"].T}, {})
    np.testing.assert_array_equal(load_checkpoint(path)[0]["a"], TENSORS["a"].T)


def test_the_sidecar_is_written_last(path, monkeypatch):
    written = []
    monkeypatch.setattr(checkpoints, "write_whole", lambda path, _: written.append(path.suffix))
    save_checkpoint(path, TENSORS, {})
    assert written == [".safetensors", ".json"]


def test_a_write_that_fails_leaves_the_old_file(path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(path, {"c": np.zeros(9)}, {})
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == ["net.json", "net.safetensors"]


def test_weights_without_their_sidecar_are_noticed(path):
    """As after a crash between the two writes."""
    checkpoints.write_whole(path, path.read_bytes() + b" ")
    with pytest.raises(ValueError, match="do not belong together"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: p.unlink(), "there is no checkpoint .*net.safetensors"),
        (lambda p: (p.unlink(), p.mkdir()), "cannot be read: it is no plain file"),
        (lambda p: p.with_suffix(".json").unlink(), "lacks its sidecar .*net.json"),
        (lambda p: p.with_suffix(".json").write_text("{"), "net.json is not JSON"),
        (lambda p: p.with_suffix(".json").write_text("[" * 100_000), "net.json is not JSON"),
        (lambda p: p.with_suffix(".json").write_bytes(b"\xff\xfe"), "net.json is not JSON"),
        (lambda p: p.with_suffix(".json").write_text("[]"), "is no sidecar .* format is None"),
        (
            lambda p: p.with_suffix(".json").write_text('{"format": "other"}'),
            "format is 'other'",
        ),
        (lambda p: _replace_weights(p, b"rubbish"), "is no safetensors file"),
    ],
)
def test_damage_is_named(path, damage, message):
    damage(path)
    with pytest.raises(ValueError, match=message):
        load_checkpoint(path)


def _replace_weights(path, content):
    facts = json.loads(path.with_suffix(".json").read_text())
    facts["weights_sha256"] = checkpoints.hashlib.sha256(content).hexdigest()
    path.write_bytes(content)
    path.with_suffix(".json").write_text(json.dumps(facts))


@pytest.mark.parametrize("name", ["net", "net.json", ""])
def test_another_ending_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.safetensors"):
        save_checkpoint(tmp_path / name, TENSORS, {})
    with pytest.raises(ValueError, match=r"ends in \.safetensors"):
        load_checkpoint(tmp_path / name)


def test_facts_that_json_cannot_hold_are_refused_before_anything_is_written(tmp_path):
    path = tmp_path / "net.safetensors"
    with pytest.raises(ValueError, match="JSON"):
        save_checkpoint(path, TENSORS, {"result": float("nan")})
    assert not any(tmp_path.iterdir())


def test_versions_name_all_that_matters():
    assert {"python", "numpy", "torch", "stable_baselines3", "bestia_env"} <= versions().keys()
    assert versions()["numpy"] == np.__version__


def test_without_git_there_is_no_commit(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_commit() is None


def test_outside_a_repository_there_is_no_commit(monkeypatch, tmp_path):
    monkeypatch.setattr(checkpoints, "_ROOT", tmp_path)
    assert git_commit() is None
