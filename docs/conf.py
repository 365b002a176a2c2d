"""Sphinx's settings: no network while building nor while reading, and every warning an error."""

import logging
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

# Sphinx sees plain functions, so that compiled ones have their signatures and docstrings. The
# notebooks run in processes of their own, which compile as usual.
os.environ["NUMBA_DISABLE_JIT"] = "1"
import numba  # noqa: E402, F401

del os.environ["NUMBA_DISABLE_JIT"]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
os.environ["PYTHONWARNINGS"] = "ignore"

# IPython without the user's settings, and silent about what nobody can help.
profile = Path(__file__).parent / "_build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
(profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", "utf-8")
os.environ["IPYTHONDIR"] = str(profile.parent)
logging.getLogger("traitlets").setLevel(logging.WARNING)

import bestia_env  # noqa: E402
from docs.lessons import digest_of_sources, write_lessons  # noqa: E402

write_lessons(Path(__file__).parent / "notebooks")

project = "bestia_env"
author = copyright = "bestia_env developers"
version = release = bestia_env.__version__

extensions = [
    "docs.directives",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build"]
default_role = "project-code"
nitpicky = True
smartquotes_action = "D"  # dashes alone, or else no value of an option could be copied
# What lies outside, where no link can lead without a network, and what typing makes up.
nitpick_ignore_regex = [
    (r"py:.*", r"(MaskablePPO|Path|Program|Field|SparseRows|Token|Scratch|leaves\.Room)"),
    (r"py:.*", r"(numpy|np|gymnasium|pettingzoo|torch|collections|pathlib|typing|rich|enum)\b.*"),
]

# Docstrings.
autodoc_member_order = "bysource"
autoclass_content = "both"  # arguments are told by `__init__`
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# Pages and notebooks.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / ".cache" / "docs-notebooks" / digest_of_sources())
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_ipywidgets_js = {}  # they would be fetched from elsewhere

html_theme = "furo"
html_title = f"bestia_env {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
