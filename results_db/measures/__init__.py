"""What is said of agents: pure functions of numbers, each with its formula and its source.

`chances` (build@k … pass@k), `speeds` (fast_p, win@p, SOL score, paired ratios), `fronts` (Pareto
front and hypervolume), `budgets` (best so far against what was spent), `uncertainty` (bootstrap,
intervals of ranks, ties), `integrity` (hack rate, held-out fields retained).
"""
