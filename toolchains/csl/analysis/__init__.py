"""From syntax to typed trees: one evaluator, in which a value is either known or live."""
