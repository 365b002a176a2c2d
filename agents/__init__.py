"""Players of the two games and the arena they meet in; run from a checkout."""
