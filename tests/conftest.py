import os

from hypothesis import HealthCheck, settings

os.environ["SDL_VIDEODRIVER"] = "dummy"  # windows without a display

# The first example may compile the kernels, which takes longer than any deadline.
settings.register_profile(
    "bestia_env", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("bestia_env")
