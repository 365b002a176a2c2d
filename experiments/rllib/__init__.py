"""The games on the new API stack of Ray's RLlib: environment, module, runners of whole hands."""
