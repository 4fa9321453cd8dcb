"""The server's side of child processes: spawning, isolation, arenas, and the clock."""
