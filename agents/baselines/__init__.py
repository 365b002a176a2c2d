"""Rule-of-thumb players: compiled, honest (they see a VIEW only), one idea each."""
