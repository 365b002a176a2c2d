"""The rules of the two games, without any reinforcement-learning library."""
