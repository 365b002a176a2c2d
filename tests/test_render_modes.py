"""The environments' render modes: pictures, windows, videos, and what happens without pygame."""

import copy
import pickle
import sys
import types
import xml.etree.ElementTree as ET

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.wrappers import AddRenderObservation, HumanRendering, RecordVideo, RenderCollection

from bestia_env import beast_v0, bestia_v0
from bestia_env.render import render_rgb, render_svg
from bestia_env.render.window import Window
from bestia_env.single import BeastEnv, BestiaEnv

AEC = {"beast": beast_v0.env, "bestia": bestia_v0.env}
SINGLE = {"beast": BeastEnv, "bestia": BestiaEnv}
IDS = {"beast": "bestia_env/Beast-v0", "bestia": "bestia_env/Bestia-v0"}
MODES = ["human", "ansi", "rgb_array"]
both_games = pytest.mark.parametrize("game", AEC)
pictures = pytest.mark.parametrize("mode", ["human", "rgb_array"])


@pytest.fixture(autouse=True)
def fast_windows(monkeypatch):
    for env in SINGLE.values():
        monkeypatch.setitem(env.metadata, "render_fps", 10**6)
    yield
    pygame.display.quit()


def step(env):
    """The lowest legal action of an AEC environment."""
    mask = env.observe(env.agent_selection)["action_mask"]
    env.step(int(mask.argmax()))


def on_screen():
    """What the window shows, (H, W, 3)."""
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


def shut_window():
    pygame.event.post(pygame.event.Event(pygame.QUIT))


@both_games
def test_an_array_of_the_open_table(game):
    env = AEC[game](render_mode="rgb_array")
    env.reset(seed=0)
    assert np.array_equal(env.render(), render_rgb(env.unwrapped.states, game))


@both_games
def test_an_array_of_what_the_learner_sees(game):
    env = gymnasium.make(IDS[game], seat=2, render_mode="rgb_array")
    env.reset(seed=0)
    states = env.unwrapped.table.states
    assert np.array_equal(env.render(), render_rgb(states, game, 2))
    assert not np.array_equal(env.render(), render_rgb(states, game))


@both_games
def test_a_window_shows_every_state(game):
    env = AEC[game](render_mode="human")
    env.reset(seed=0)
    while env.agents and not any(env.terminations.values()):
        assert np.array_equal(on_screen(), render_rgb(env.unwrapped.states, game))
        step(env)
    assert np.array_equal(on_screen(), render_rgb(env.unwrapped.states, game))
    assert env.render() is None
    env.close()
    assert not pygame.display.get_init()


@both_games
def test_a_window_shows_what_the_learner_sees_at_every_act(game, monkeypatch):
    seen = []
    monkeypatch.setattr(Window, "show", lambda self, pixels: seen.append(pixels))
    env = SINGLE[game](seat=1, render_mode="human")
    _, info = env.reset(seed=0)
    over, before = False, len(seen)
    while not over:
        *_, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert len(seen) - before > 3
    assert np.array_equal(seen[-1], render_rgb(env.table.states, game, 1))


@both_games
def test_a_window_shows_the_end_of_every_hand(game, monkeypatch):
    env = AEC[game](num_hands=3, render_mode="human")
    over = []
    table = env.unwrapped
    monkeypatch.setattr(Window, "show", lambda *_: over.append(table.states["turn"][0] < 0))
    env.reset(seed=0)
    while not any(env.terminations.values()):
        step(env)
    assert sum(over) == 3


def test_a_window_closed_by_its_button_stays_closed():
    env = AEC["bestia"](num_hands=3, render_mode="human")
    env.reset(seed=0)
    shut_window()
    step(env)
    assert not pygame.display.get_init()
    twin = env.unwrapped.clone()
    for one in (env, twin):
        step(one)
        one.reset(seed=1)
        assert not pygame.display.get_init()
    env.close()
    env.reset(seed=1)
    assert pygame.display.get_init()


def test_the_pace_of_a_window(monkeypatch):
    now, naps = [0.0], []
    monkeypatch.setattr("bestia_env.render.window.time.monotonic", lambda: now[0])

    def sleep(seconds):
        naps.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("bestia_env.render.window.time.sleep", sleep)
    window = Window("Beast", fps=2)
    black, white = np.zeros((8, 8, 3), np.uint8), np.full((8, 8, 3), 255, np.uint8)
    window.show(black)
    assert now == [0]
    window.show(black)
    assert now == [0]
    window.show(white)
    assert now == [pytest.approx(0.5)]
    assert max(naps) < 0.1
    window.close()
    window.show(black)
    assert now == [pytest.approx(0.5)]
    window.close()


def test_two_windows_take_turns():
    one, other = (Window("Beast", 10**6) for _ in range(2))
    pixels = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), np.uint8)
    for _ in range(2):
        for window, picture in zip((one, other), pixels, strict=True):
            window.show(picture)
            assert np.array_equal(on_screen(), picture)
    one.close()
    other.show(pixels[0])
    assert np.array_equal(on_screen(), pixels[0])
    other.close()


@both_games
@pytest.mark.parametrize("mode", [None, *MODES])
def test_close_at_any_time(game, mode):
    for make in (AEC[game], SINGLE[game]):
        env = make(render_mode=mode)
        env.close()
        env.close()
        env.reset(seed=0)
        env.close()
        env.close()


@both_games
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_hand_render_alike(game, mode, copied):
    for make in (AEC[game], SINGLE[game]):
        env = make(render_mode=mode)
        env.reset(seed=0)
        env.render()
        twin = copied(env)
        assert np.array_equal(env.render(), twin.render())
        twin.close()
        env.close()


@both_games
@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_rendered_before_the_first_deal(game, mode):
    for env in (AEC[game](render_mode=mode).unwrapped, SINGLE[game](render_mode=mode)):
        with pytest.raises(RuntimeError, match="call reset"):
            env.render()


@both_games
def test_notebooks_show_the_table(game):
    env, single = AEC[game](), SINGLE[game](seat=1)
    assert env._repr_svg_() is single._repr_svg_() is None
    env.reset(seed=0)
    single.reset(seed=0)
    assert env._repr_svg_() == env.unwrapped._repr_svg_() == render_svg(env.unwrapped.states, game)
    assert single._repr_svg_() == render_svg(single.table.states, game, 1)
    assert ET.fromstring(env._repr_svg_()) is not None


@pictures
@pytest.mark.parametrize("missing", ["pygame", "resvg_py"])
def test_a_missing_package_is_named_at_construction(monkeypatch, mode, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    for make in (*AEC.values(), *SINGLE.values()):
        with pytest.raises(ImportError, match=r"pip install 'bestia_env\[human\]'"):
            make(render_mode=mode)
        make(render_mode="ansi").close()


def test_pixels_without_the_packages(monkeypatch):
    env = AEC["beast"]()
    env.reset(seed=0)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError, match=r"pip install 'bestia_env\[human\]'"):
        render_rgb(env.unwrapped.states, "beast")
    assert env._repr_svg_()


# The ecosystem's own wrappers.


def play(env):
    _, info = env.reset(seed=0)
    observations, over = [], False
    while not over:
        observation, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        observations.append(observation)
    return observations


@both_games
def test_frames_are_collected(game):
    env = RenderCollection(gymnasium.make(IDS[game], render_mode="rgb_array"))
    count = len(play(env)) + 1
    frames = env.render()
    assert len(frames) == count and frames[0].shape == (512, 640, 3)
    assert not np.array_equal(frames[0], frames[-1])


@both_games
def test_a_list_of_frames_is_a_mode(game):
    env = gymnasium.make(IDS[game], render_mode="rgb_array_list")
    count = len(play(env)) + 1
    assert len(env.render()) == count


@both_games
def test_pictures_as_observations(game):
    env = AddRenderObservation(gymnasium.make(IDS[game], render_mode="rgb_array"))
    for observation in play(env):
        assert env.observation_space.contains(observation)


@both_games
def test_gymnasium_s_own_window(game):
    env = HumanRendering(gymnasium.make(IDS[game], render_mode="rgb_array"))
    play(env)
    env.close()


@both_games
def test_a_video_is_recorded(game, monkeypatch, tmp_path):
    """With a stand-in for moviepy, to which the frames go."""
    clips = []

    class ImageSequenceClip:
        def __init__(self, frames, fps):
            clips.append((frames, fps))

        def write_videofile(self, path, logger=None):
            clips.append(path)

    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    clip = types.ModuleType("moviepy.video.io.ImageSequenceClip")
    clip.ImageSequenceClip = ImageSequenceClip
    monkeypatch.setitem(sys.modules, clip.__name__, clip)
    env = gymnasium.make(IDS[game], render_mode="rgb_array")
    recorder = RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda episode: True)
    count = len(play(recorder)) + 1
    recorder.close()
    (frames, fps), path = clips
    assert len(frames) == count and fps == env.metadata["render_fps"]
    assert path.startswith(str(tmp_path)) and path.endswith(".mp4")
