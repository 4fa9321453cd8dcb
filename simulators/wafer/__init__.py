"""A model of Cerebras' wafer-scale engine: processing elements, routers, and their cycles."""
