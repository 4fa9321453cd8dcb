ALTER TABLE runs_finished ADD COLUMN side_bytes BIGINT;
ALTER TABLE runs_finished ADD COLUMN achieved DOUBLE;
ALTER TABLE runs_finished ADD COLUMN reached BOOLEAN;
ALTER TABLE runs_finished ADD COLUMN tries BIGINT;
ALTER TABLE runs_finished ADD COLUMN transform_s DOUBLE;
ALTER TABLE runs_finished ADD COLUMN detransform_s DOUBLE;
COMMENT ON COLUMN runs_finished.side_bytes IS
  'Side data that the server keeps beside the stream (pw_rel); counted in ratio';
COMMENT ON COLUMN runs_finished.achieved IS
  'What was asked as it came out, in units of the mode; NULL in abs and rel, or if nothing differs';
COMMENT ON COLUMN runs_finished.reached IS
  'Whether that is what was asked; a run that did not reach it is not ranked';
COMMENT ON COLUMN runs_finished.tries IS 'Absolute bounds tried on the field itself';
COMMENT ON COLUMN runs_finished.transform_s IS
  'Time the server took to make what the kernel was given (pw_rel); in no speed';
COMMENT ON COLUMN runs_finished.detransform_s IS
  'Time it took to make the data of what the kernel decoded; in no speed';
-- Comments whose wording changed.
COMMENT ON COLUMN runs_started.mode IS 'abs, rel, pw_rel, psnr, l2norm or ratio';
COMMENT ON COLUMN runs_finished.abs_bound IS
  'Absolute bound that the server derived; in pw_rel of a run that of log2 |x|';
COMMENT ON COLUMN runs_finished.ratio IS 'raw_bytes / (stream_bytes + side_bytes)';
COMMENT ON COLUMN runs_finished.bit_rate IS 'Bits of stream and side data per value';
COMMENT ON COLUMN runs_finished.worst_over_bound IS
  'Largest error over its bound; above 1 it is broken';
COMMENT ON COLUMN profiles.mode IS 'abs, rel, pw_rel, psnr, l2norm or ratio';
-- Cases have what a run has of its mode.
ALTER TABLE verdicts ALTER cases TYPE STRUCT(case_name VARCHAR, core BOOLEAN, status VARCHAR,
  checked BIGINT, violations BIGINT, max_abs_error DOUBLE, abs_bound DOUBLE, ratio DOUBLE,
  side_bytes BIGINT, achieved DOUBLE, reached BOOLEAN, tries BIGINT)[];
