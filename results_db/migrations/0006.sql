DROP VIEW ladder;
DROP VIEW leaderboard;
DROP VIEW budget_curve;
DROP VIEW best_runs;
DROP VIEW scored_runs;
CREATE TABLE benches (
  bench_id VARCHAR, name VARCHAR, spec JSON, spec_hash VARCHAR, cells BIGINT, versions JSON,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE benches IS 'Benches, a row each time one was started or resumed';
COMMENT ON COLUMN benches.bench_id IS 'Name and the beginning of the hash of its specification';
COMMENT ON COLUMN benches.name IS 'Name in the specification';
COMMENT ON COLUMN benches.spec IS 'The specification: agents, tasks, targets, conditions, budgets';
COMMENT ON COLUMN benches.spec_hash IS 'SHA-256 of it';
COMMENT ON COLUMN benches.cells IS 'Cells of its matrix';
COMMENT ON COLUMN benches.versions IS 'What it takes to repeat it: library or prompt to version';

CREATE TABLE bench_cells (
  bench_id VARCHAR, cell_id VARCHAR, session VARCHAR, agent VARCHAR, agent_kind VARCHAR,
  task VARCHAR, target VARCHAR, prompt_tier VARCHAR, feedback_level VARCHAR, repeat BIGINT,
  event VARCHAR, reason VARCHAR, calls BIGINT, seconds DOUBLE,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE bench_cells IS 'Beginnings and ends of the cells of benches';
COMMENT ON COLUMN bench_cells.bench_id IS 'Its bench';
COMMENT ON COLUMN bench_cells.cell_id IS 'Its name in the matrix';
COMMENT ON COLUMN bench_cells.session IS
  'Session in which it was tried: bench_id/cell_id, and +2 and so on when begun anew';
COMMENT ON COLUMN bench_cells.agent IS 'Agent of the specification';
COMMENT ON COLUMN bench_cells.agent_kind IS 'model, command, search or replay';
COMMENT ON COLUMN bench_cells.task IS 'Codec or stage that was asked for';
COMMENT ON COLUMN bench_cells.target IS 'Where it must run';
COMMENT ON COLUMN bench_cells.prompt_tier IS 'user, knowledgeable or expert';
COMMENT ON COLUMN bench_cells.feedback_level IS 'none, raw, explain or suggest';
COMMENT ON COLUMN bench_cells.repeat IS '1-based number of the repeat';
COMMENT ON COLUMN bench_cells.event IS
  'started, finished, failed, skipped, or stopped (by a budget or because nothing got better)';
COMMENT ON COLUMN bench_cells.reason IS 'Why it ended so';
COMMENT ON COLUMN bench_cells.calls IS 'Calls that touched a kernel, up to this event';
COMMENT ON COLUMN bench_cells.seconds IS 'Wall time of the cell, up to this event';

CREATE TABLE usage (
  session VARCHAR, agent VARCHAR, turn BIGINT, input_tokens BIGINT, output_tokens BIGINT,
  cached_tokens BIGINT, dollars DOUBLE, source VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE usage IS 'What agents used, as they or their endpoints report it: not evidence';
COMMENT ON COLUMN usage.session IS 'Session it was used in';
COMMENT ON COLUMN usage.agent IS 'Who used it';
COMMENT ON COLUMN usage.turn IS '1-based number of the report within the session';
COMMENT ON COLUMN usage.input_tokens IS 'Tokens read in this turn, cached ones among them';
COMMENT ON COLUMN usage.output_tokens IS 'Tokens written in this turn';
COMMENT ON COLUMN usage.cached_tokens IS 'Of the tokens read, those from a cache';
COMMENT ON COLUMN usage.dollars IS 'Price of this turn; NULL if nothing says it';
COMMENT ON COLUMN usage.source IS 'What reported it: endpoint, or the command''s own report';

CREATE TABLE scored_runs (
  task VARCHAR, target VARCHAR, execution VARCHAR, host VARCHAR, threads BIGINT, field VARCHAR,
  mode VARCHAR, bound DOUBLE, agent VARCHAR, session VARCHAR, program VARCHAR, kernel_id VARCHAR,
  run_id VARCHAR, call_id VARCHAR, attempt BIGINT, status VARCHAR, score DOUBLE,
  score_unit VARCHAR, ratio DOUBLE, compress_gbps DOUBLE, decompress_gbps DOUBLE, run_gbps DOUBLE,
  max_abs_error DOUBLE, abs_bound DOUBLE, worst_over_bound DOUBLE, repetitions BIGINT,
  within_size_rule BOOLEAN, measured_at TIMESTAMP, harness VARCHAR,
  ineligible_because VARCHAR);
COMMENT ON TABLE scored_runs IS 'Measured runs with their score, and why one is not ranked';
COMMENT ON COLUMN scored_runs.program IS
  'Likeness of the kernel: near-duplicates of an agent count once; of older ones content_hash';
COMMENT ON COLUMN scored_runs.score IS
  'transfer_bits in sz-open, both_ways_gbps in fixed formats, run_gbps in stages; higher is better';
COMMENT ON COLUMN scored_runs.score_unit IS 'bits (log2 of a speed-up) or GB/s';
COMMENT ON COLUMN scored_runs.measured_at IS 'When the run ended (UTC)';
COMMENT ON COLUMN scored_runs.ineligible_because IS 'NULL if the run may be ranked';

CREATE TABLE best_runs (
  task VARCHAR, target VARCHAR, execution VARCHAR, host VARCHAR, threads BIGINT, field VARCHAR,
  mode VARCHAR, bound DOUBLE, agent VARCHAR, session VARCHAR, program VARCHAR, kernel_id VARCHAR,
  run_id VARCHAR, call_id VARCHAR, attempt BIGINT, status VARCHAR, score DOUBLE,
  score_unit VARCHAR, ratio DOUBLE, compress_gbps DOUBLE, decompress_gbps DOUBLE, run_gbps DOUBLE,
  max_abs_error DOUBLE, abs_bound DOUBLE, worst_over_bound DOUBLE, repetitions BIGINT,
  within_size_rule BOOLEAN, measured_at TIMESTAMP, harness VARCHAR);
COMMENT ON TABLE best_runs IS
  'Best eligible run of every program of an agent under the same conditions';

CREATE TABLE ladder (
  kernel_id VARCHAR, task VARCHAR, target VARCHAR, agent VARCHAR, session VARCHAR, rung VARCHAR,
  rung_number INTEGER, stage VARCHAR, verified BOOLEAN, received_at TIMESTAMP);
COMMENT ON TABLE ladder IS 'How far every kernel got: the highest rung over its builds and runs';
COMMENT ON COLUMN ladder.rung IS 'Highest rung that was reached';
COMMENT ON COLUMN ladder.rung_number IS '1 (received) to 8 (timed)';
COMMENT ON COLUMN ladder.stage IS 'First rung that was not reached; NULL at the top';
COMMENT ON COLUMN ladder.verified IS 'Whether it holds on the whole suite';
COMMENT ON COLUMN ladder.received_at IS 'When the submission arrived (UTC)';
