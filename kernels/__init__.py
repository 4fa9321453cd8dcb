"""What a kernel must do: records, tasks, golden references, fields, verification, baselines."""
