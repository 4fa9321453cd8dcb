"""Of the Cerebras SDK."""
