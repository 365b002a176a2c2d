"""The games on Ray's RLlib (its new API stack): an environment, a module, runners of whole hands."""
