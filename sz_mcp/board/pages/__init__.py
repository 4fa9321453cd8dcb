"""The pages, one module each: records in, HTML out."""
