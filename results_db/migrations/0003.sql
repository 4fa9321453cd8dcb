ALTER TABLE runs_started ADD COLUMN repeats BIGINT;
ALTER TABLE runs_started ADD COLUMN threads BIGINT;
ALTER TABLE runs_started ADD COLUMN against VARCHAR;
ALTER TABLE runs_started ADD COLUMN reproduces VARCHAR;
COMMENT ON COLUMN runs_started.repeats IS 'Timed repetitions that were asked for';
COMMENT ON COLUMN runs_started.threads IS 'Threads the kernel was allowed';
COMMENT ON COLUMN runs_started.against IS
  'kernel_id it was timed side by side with; such a run is not ranked';
COMMENT ON COLUMN runs_started.reproduces IS
  'run_id of the run that it repeats; such a run is not ranked';
-- Comments that an upgraded database lacks or has in an older wording.
COMMENT ON COLUMN runs_started.attempt IS 'Number of that call among the session''s attempts';
COMMENT ON COLUMN kernels.attempt IS 'Number of that call among the session''s attempts';
COMMENT ON COLUMN verdicts.holds IS
  'Whether no case violates or fails otherwise, and none of the core is refused';
COMMENT ON COLUMN violations.core IS
  'Whether a refusal of this case counts, as a violation does in any';
CREATE TABLE comparisons (
  run_id VARCHAR, kernel_id VARCHAR, against VARCHAR, direction VARCHAR, verdict VARCHAR,
  speedup DOUBLE, speedup_low DOUBLE, speedup_high DOUBLE, pairs BIGINT, seconds DOUBLE[],
  against_seconds DOUBLE[],
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE comparisons IS
  'Kernels timed side by side, a row per direction: paired, with a signed-rank interval';
COMMENT ON COLUMN comparisons.run_id IS 'Its run';
COMMENT ON COLUMN comparisons.kernel_id IS 'Kernel that is judged';
COMMENT ON COLUMN comparisons.against IS 'Kernel it is compared with';
COMMENT ON COLUMN comparisons.direction IS 'compress, decompress or run';
COMMENT ON COLUMN comparisons.verdict IS
  'faster or slower than the other; inconclusive if the interval contains 1';
COMMENT ON COLUMN comparisons.speedup IS
  'Speed of kernel_id over that of against: Hodges-Lehmann estimate over the pairs';
COMMENT ON COLUMN comparisons.speedup_low IS 'Lower end of its 95% interval';
COMMENT ON COLUMN comparisons.speedup_high IS
  'Upper end of its 95% interval; infinity with fewer than 6 pairs';
COMMENT ON COLUMN comparisons.pairs IS 'Undisturbed pairs of repetitions';
COMMENT ON COLUMN comparisons.seconds IS 'Time per input of kernel_id in each pair';
COMMENT ON COLUMN comparisons.against_seconds IS 'Time per input of against in each pair';
