-- The tables of the ledger, version 6; the views follow. A statement ends with `;` at the end of a
-- line. Every event table also has the columns id (uuid of the row), recorded_at, host, writer
-- (process that wrote it), segment (journal file it came from) and extra (of newer versions). Times are UTC. GB/s are 10^9 bytes of original data
-- per second. DOUBLE columns may hold NaN and infinities. No name needs quoting.

CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP);
COMMENT ON TABLE schema_version IS 'Versions of this schema that the database went through';
COMMENT ON COLUMN schema_version.version IS 'Version number; the largest one is in force';
COMMENT ON COLUMN schema_version.applied_at IS 'When the database was brought to it';

CREATE TABLE journal_segments (
  segment VARCHAR PRIMARY KEY, drained_bytes BIGINT, closed BOOLEAN, drained_at TIMESTAMP);
COMMENT ON TABLE journal_segments IS
  'Journal files and how far each was drained; written in the transaction of the rows themselves';
COMMENT ON COLUMN journal_segments.segment IS 'File name: time-pid-random.jsonl';
COMMENT ON COLUMN journal_segments.drained_bytes IS 'Bytes whose rows are in this database';
COMMENT ON COLUMN journal_segments.closed IS 'Whether its process has ended';
COMMENT ON COLUMN journal_segments.drained_at IS 'When it was last read';

CREATE TABLE journal_damage (
  segment VARCHAR, byte_offset BIGINT, bytes BIGINT, reason VARCHAR, content VARCHAR,
  found_at TIMESTAMP, PRIMARY KEY (segment, byte_offset));
COMMENT ON TABLE journal_damage IS
  'Pieces of journals that are no event: a tail torn by a crash (never acknowledged), or garbage';
COMMENT ON COLUMN journal_damage.segment IS 'Journal file';
COMMENT ON COLUMN journal_damage.byte_offset IS 'Where the piece begins in the file';
COMMENT ON COLUMN journal_damage.bytes IS 'Length of the piece';
COMMENT ON COLUMN journal_damage.reason IS 'What is wrong with it';
COMMENT ON COLUMN journal_damage.content IS 'The piece; undecodable bytes as escapes, cut if very long';
COMMENT ON COLUMN journal_damage.found_at IS 'When a drain met it';

CREATE TABLE unplaced_rows (
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, table_name VARCHAR, content JSON, segment VARCHAR);
COMMENT ON TABLE unplaced_rows IS
  'Rows of tables that this schema does not have, from a newer server; kept for its migration';
COMMENT ON COLUMN unplaced_rows.id IS 'Uuid of the row';
COMMENT ON COLUMN unplaced_rows.recorded_at IS 'When the row was written (UTC)';
COMMENT ON COLUMN unplaced_rows.table_name IS 'Table it was meant for';
COMMENT ON COLUMN unplaced_rows.content IS 'The whole row';
COMMENT ON COLUMN unplaced_rows.segment IS 'Journal file it came from';

CREATE TABLE sessions (
  session VARCHAR, agent VARCHAR, client VARCHAR, transport VARCHAR, protocol VARCHAR,
  model VARCHAR, prompt_tier VARCHAR, feedback_level VARCHAR, budget_attempts BIGINT,
  budget_seconds DOUBLE,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE sessions IS 'Sessions of agents and the conditions each worked under';
COMMENT ON COLUMN sessions.session IS 'Name of the session: the stdio process, or the token';
COMMENT ON COLUMN sessions.agent IS 'Who called, by token or --agent; never an argument of a call';
COMMENT ON COLUMN sessions.client IS 'Name and version that the MCP client gave of itself';
COMMENT ON COLUMN sessions.transport IS 'stdio or http';
COMMENT ON COLUMN sessions.protocol IS 'MCP protocol version';
COMMENT ON COLUMN sessions.model IS 'Language model behind the agent, as its token says';
COMMENT ON COLUMN sessions.prompt_tier IS 'user, knowledgeable or expert';
COMMENT ON COLUMN sessions.feedback_level IS 'none, raw, explain or suggest';
COMMENT ON COLUMN sessions.budget_attempts IS 'Attempts the agent may make; NULL if unlimited';
COMMENT ON COLUMN sessions.budget_seconds IS 'Time the agent has; NULL if unlimited';

CREATE TABLE hosts (
  fingerprint VARCHAR, cpu VARCHAR, cores BIGINT, memory_bytes BIGINT, gpu VARCHAR, driver VARCHAR,
  os VARCHAR, python VARCHAR, versions JSON, sandbox JSON, commit_hash VARCHAR, harness VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE hosts IS 'Machines and their software, one row per start of a server';
COMMENT ON COLUMN hosts.fingerprint IS 'Of what decides speed; the host column of every other table';
COMMENT ON COLUMN hosts.cpu IS 'Processor model';
COMMENT ON COLUMN hosts.cores IS 'Cores the server may use';
COMMENT ON COLUMN hosts.memory_bytes IS 'Main memory';
COMMENT ON COLUMN hosts.gpu IS 'Accelerator model, if any';
COMMENT ON COLUMN hosts.driver IS 'Its driver version';
COMMENT ON COLUMN hosts.os IS 'Operating system and kernel';
COMMENT ON COLUMN hosts.python IS 'Python version';
COMMENT ON COLUMN hosts.versions IS 'Library name to version';
COMMENT ON COLUMN hosts.sandbox IS 'Isolation layer to its state, as probed at start';
COMMENT ON COLUMN hosts.commit_hash IS 'Commit of this project, if known';
COMMENT ON COLUMN hosts.harness IS
  'Digest of what decides scores: our Python source, versions of Python, NumPy, numba and llvmlite';

CREATE TABLE calls (
  call_id VARCHAR, started_at TIMESTAMP, tool VARCHAR, arguments JSON, agent VARCHAR,
  session VARCHAR, client VARCHAR, protocol VARCHAR, attempt BIGINT, duration_ms DOUBLE,
  outcome VARCHAR, status VARCHAR, error VARCHAR, request_bytes BIGINT, reply_bytes BIGINT,
  kernel_id VARCHAR, run_id VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE calls IS 'Every MCP call, whatever became of it';
COMMENT ON COLUMN calls.call_id IS 'Random id of the call';
COMMENT ON COLUMN calls.started_at IS 'When the call arrived (UTC)';
COMMENT ON COLUMN calls.tool IS 'Name of the tool';
COMMENT ON COLUMN calls.arguments IS 'As sent; source text is replaced by its SHA-256 and size';
COMMENT ON COLUMN calls.agent IS 'Who called';
COMMENT ON COLUMN calls.session IS 'Session it belongs to';
COMMENT ON COLUMN calls.client IS 'Name and version that the MCP client gave of itself';
COMMENT ON COLUMN calls.protocol IS 'MCP protocol version';
COMMENT ON COLUMN calls.attempt IS
  '1-based number, within the session, of calls that touched a kernel; NULL for others';
COMMENT ON COLUMN calls.duration_ms IS 'From request to reply, by the server, in milliseconds';
COMMENT ON COLUMN calls.outcome IS 'ok, tool_error, protocol_error or cancelled';
COMMENT ON COLUMN calls.status IS 'Status in the reply';
COMMENT ON COLUMN calls.error IS 'Text of the error';
COMMENT ON COLUMN calls.request_bytes IS 'Size of the request';
COMMENT ON COLUMN calls.reply_bytes IS 'Size of the reply';
COMMENT ON COLUMN calls.kernel_id IS 'Kernel the call touched';
COMMENT ON COLUMN calls.run_id IS 'Run the call started or asked for';

CREATE TABLE kernels (
  kernel_id VARCHAR, call_id VARCHAR, attempt BIGINT, task VARCHAR, target VARCHAR,
  content_hash VARCHAR, blob VARCHAR, parent VARCHAR, agent VARCHAR, session VARCHAR,
  file_names VARCHAR[], source_bytes BIGINT, likeness VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE kernels IS 'Submissions that were received';
COMMENT ON COLUMN kernels.kernel_id IS 'Random id, new for every submission';
COMMENT ON COLUMN kernels.call_id IS 'Call that sent it';
COMMENT ON COLUMN kernels.attempt IS 'Number of that call among the session''s attempts';
COMMENT ON COLUMN kernels.task IS 'Codec or stage that was asked for';
COMMENT ON COLUMN kernels.target IS 'Where it must run';
COMMENT ON COLUMN kernels.content_hash IS 'SHA-256 of the normalised source: equal for equal code';
COMMENT ON COLUMN kernels.blob IS 'SHA-256 of the exact files, under which the blob store keeps them';
COMMENT ON COLUMN kernels.parent IS 'kernel_id it was derived from, as the agent said';
COMMENT ON COLUMN kernels.agent IS 'Who sent it';
COMMENT ON COLUMN kernels.session IS 'Session it was sent in';
COMMENT ON COLUMN kernels.file_names IS 'Names of its files';
COMMENT ON COLUMN kernels.source_bytes IS 'Size of its files together';
COMMENT ON COLUMN kernels.likeness IS
  'Hash that programs share if only names, comments, spellings, order or files differ';

CREATE TABLE builds (
  call_id VARCHAR, kernel_id VARCHAR, status VARCHAR, stage VARCHAR, seconds DOUBLE,
  failure_kind VARCHAR, failure_message VARCHAR, output VARCHAR, guidance JSON, harness VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE builds IS 'Compilations';
COMMENT ON COLUMN builds.call_id IS 'Call that asked for it';
COMMENT ON COLUMN builds.kernel_id IS 'Kernel that was compiled';
COMMENT ON COLUMN builds.status IS 'Rung of the ladder that was reached, or rejected, refused, error';
COMMENT ON COLUMN builds.stage IS 'First rung of the ladder that was not reached';
COMMENT ON COLUMN builds.seconds IS 'Wall time of the build';
COMMENT ON COLUMN builds.failure_kind IS 'Cause of the failure; NULL if there was none';
COMMENT ON COLUMN builds.failure_message IS 'What happened and what to do next';
COMMENT ON COLUMN builds.output IS 'Tail of what was printed, if it failed';
COMMENT ON COLUMN builds.guidance IS 'List of {rule, explanation, suggestion} that the agent was given';
COMMENT ON COLUMN builds.harness IS 'Digest of what decided the result: see hosts';

CREATE TABLE diagnostics (
  kernel_id VARCHAR, call_id VARCHAR, run_id VARCHAR, position BIGINT, severity VARCHAR,
  message VARCHAR, file VARCHAR, line_number BIGINT, column_number BIGINT, source_line VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE diagnostics IS 'Messages of compilers, runs and checks, placed in the agent''s files';
COMMENT ON COLUMN diagnostics.kernel_id IS 'Kernel it is about';
COMMENT ON COLUMN diagnostics.call_id IS 'Call whose build it belongs to; NULL for a run';
COMMENT ON COLUMN diagnostics.run_id IS 'Run it belongs to; NULL for a build';
COMMENT ON COLUMN diagnostics.position IS '0-based order within its build or run';
COMMENT ON COLUMN diagnostics.severity IS 'error, warning or note';
COMMENT ON COLUMN diagnostics.message IS 'The message';
COMMENT ON COLUMN diagnostics.file IS 'File of the submission';
COMMENT ON COLUMN diagnostics.line_number IS '1-based';
COMMENT ON COLUMN diagnostics.column_number IS '1-based';
COMMENT ON COLUMN diagnostics.source_line IS 'Text of that line';

CREATE TABLE runs_started (
  run_id VARCHAR, call_id VARCHAR, attempt BIGINT, kernel_id VARCHAR, tool VARCHAR,
  field VARCHAR, mode VARCHAR, bound DOUBLE, repeats BIGINT, threads BIGINT, against VARCHAR,
  reproduces VARCHAR, session VARCHAR, agent VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE runs_started IS 'Beginnings of runs; the view runs joins them with their ends';
COMMENT ON COLUMN runs_started.run_id IS 'Random id of the run';
COMMENT ON COLUMN runs_started.call_id IS 'Call that started it';
COMMENT ON COLUMN runs_started.attempt IS 'Number of that call among the session''s attempts';
COMMENT ON COLUMN runs_started.kernel_id IS 'Kernel that ran';
COMMENT ON COLUMN runs_started.tool IS 'verify_bounds, run_compress or profile';
COMMENT ON COLUMN runs_started.field IS 'Field of scientific data, or suite';
COMMENT ON COLUMN runs_started.mode IS 'abs, rel, pw_rel, psnr, l2norm or ratio';
COMMENT ON COLUMN runs_started.bound IS 'Bound as asked, in that mode';
COMMENT ON COLUMN runs_started.repeats IS 'Timed repetitions that were asked for';
COMMENT ON COLUMN runs_started.threads IS 'Threads the kernel was allowed';
COMMENT ON COLUMN runs_started.against IS
  'kernel_id it was timed side by side with; such a run is not ranked';
COMMENT ON COLUMN runs_started.reproduces IS
  'run_id of the run that it repeats; such a run is not ranked';
COMMENT ON COLUMN runs_started.session IS 'Session it belongs to';
COMMENT ON COLUMN runs_started.agent IS 'Who asked for it';

CREATE TABLE runs_finished (
  run_id VARCHAR, kernel_id VARCHAR, tool VARCHAR, status VARCHAR, stage VARCHAR,
  failure_kind VARCHAR, failure_message VARCHAR, output VARCHAR, guidance JSON,
  execution VARCHAR, threads BIGINT, cache_state VARCHAR, abs_bound DOUBLE, raw_bytes BIGINT,
  stream_bytes BIGINT, golden_bytes BIGINT, within_size_rule BOOLEAN, ratio DOUBLE,
  bit_rate DOUBLE, psnr DOUBLE, checked_values BIGINT, violations BIGINT, max_abs_error DOUBLE,
  worst_over_bound DOUBLE, zero_signs_changed BIGINT, repetitions BIGINT, disturbed_samples BIGINT,
  compress_gbps DOUBLE, compress_gbps_low DOUBLE, compress_gbps_high DOUBLE,
  decompress_gbps DOUBLE, decompress_gbps_low DOUBLE, decompress_gbps_high DOUBLE,
  run_gbps DOUBLE, run_gbps_low DOUBLE, run_gbps_high DOUBLE,
  both_ways_gbps DOUBLE, copy_peak_gbps DOUBLE, transfer_bits DOUBLE, null_round_trip_s DOUBLE,
  side_bytes BIGINT, achieved DOUBLE, reached BOOLEAN, tries BIGINT, transform_s DOUBLE,
  detransform_s DOUBLE, harness VARCHAR,
  samples STRUCT(direction VARCHAR, repetition BIGINT, seconds DOUBLE, child_seconds DOUBLE,
    batch BIGINT, nbytes BIGINT, wait_seconds DOUBLE, disturbed BOOLEAN)[],
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE runs_finished IS 'Ends of runs; what was measured is there for run_compress only';
COMMENT ON COLUMN runs_finished.run_id IS 'Random id of the run';
COMMENT ON COLUMN runs_finished.kernel_id IS 'Kernel that ran';
COMMENT ON COLUMN runs_finished.tool IS 'verify_bounds, run_compress or profile';
COMMENT ON COLUMN runs_finished.status IS
  'Rung of the ladder that was reached, or rejected, refused, error, suspect, inconclusive';
COMMENT ON COLUMN runs_finished.stage IS 'First rung of the ladder that was not reached';
COMMENT ON COLUMN runs_finished.failure_kind IS 'Cause of the failure; NULL if there was none';
COMMENT ON COLUMN runs_finished.failure_message IS 'What happened and what to do next';
COMMENT ON COLUMN runs_finished.output IS 'Tail of what the kernel printed, if it failed';
COMMENT ON COLUMN runs_finished.guidance IS
  'List of {rule, explanation, suggestion} that the agent was given';
COMMENT ON COLUMN runs_finished.execution IS
  'hardware, emulated (never a speed) or simulated (cycles); never ranked together';
COMMENT ON COLUMN runs_finished.threads IS 'Threads the kernel was allowed';
COMMENT ON COLUMN runs_finished.cache_state IS 'What the caches held when a repetition began';
COMMENT ON COLUMN runs_finished.abs_bound IS
  'Absolute bound that the server derived; in pw_rel of a run that of log2 |x|';
COMMENT ON COLUMN runs_finished.raw_bytes IS 'Size of the field';
COMMENT ON COLUMN runs_finished.stream_bytes IS 'Size of the compressed stream';
COMMENT ON COLUMN runs_finished.golden_bytes IS 'Size of the golden stream, for fixed formats';
COMMENT ON COLUMN runs_finished.within_size_rule IS
  'Whether stream_bytes <= 1.02 * golden_bytes + 64; NULL without a golden stream';
COMMENT ON COLUMN runs_finished.ratio IS 'raw_bytes / (stream_bytes + side_bytes)';
COMMENT ON COLUMN runs_finished.bit_rate IS 'Bits of stream and side data per value';
COMMENT ON COLUMN runs_finished.psnr IS 'dB; NULL if nothing differs';
COMMENT ON COLUMN runs_finished.checked_values IS 'Elements compared: all of them';
COMMENT ON COLUMN runs_finished.violations IS 'Elements outside the bound';
COMMENT ON COLUMN runs_finished.max_abs_error IS
  'Largest error; infinity if a finite value came back non-finite or the reverse';
COMMENT ON COLUMN runs_finished.worst_over_bound IS
  'Largest error over its bound; above 1 it is broken';
COMMENT ON COLUMN runs_finished.zero_signs_changed IS 'Zeros back with the other sign: allowed';
COMMENT ON COLUMN runs_finished.repetitions IS 'Timed repetitions';
COMMENT ON COLUMN runs_finished.disturbed_samples IS
  'Timed requests that other work disturbed; left out of the speeds unless all were';
COMMENT ON COLUMN runs_finished.compress_gbps IS 'Median GB/s of compression';
COMMENT ON COLUMN runs_finished.compress_gbps_low IS 'Lower quartile';
COMMENT ON COLUMN runs_finished.compress_gbps_high IS 'Upper quartile';
COMMENT ON COLUMN runs_finished.decompress_gbps IS 'Median GB/s of decompression';
COMMENT ON COLUMN runs_finished.decompress_gbps_low IS 'Lower quartile';
COMMENT ON COLUMN runs_finished.decompress_gbps_high IS 'Upper quartile';
COMMENT ON COLUMN runs_finished.run_gbps IS 'Median GB/s of a stage';
COMMENT ON COLUMN runs_finished.run_gbps_low IS 'Lower quartile';
COMMENT ON COLUMN runs_finished.run_gbps_high IS 'Upper quartile';
COMMENT ON COLUMN runs_finished.both_ways_gbps IS 'Harmonic mean of the two directions';
COMMENT ON COLUMN runs_finished.copy_peak_gbps IS 'memcpy GB/s measured at the size of the field';
COMMENT ON COLUMN runs_finished.transfer_bits IS
  'Score of sz-open: log2 of how many times faster data arrives than sent raw, mean over links';
COMMENT ON COLUMN runs_finished.null_round_trip_s IS 'Median time of a request that does nothing';
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
COMMENT ON COLUMN runs_finished.harness IS 'Digest of what decided the result: see hosts';
COMMENT ON COLUMN runs_finished.samples IS 'Every timed request; the view samples unnests it';

CREATE TABLE verdicts (
  run_id VARCHAR, kernel_id VARCHAR, status VARCHAR, stage VARCHAR, holds BOOLEAN,
  checked_values BIGINT, violations BIGINT, max_abs_error DOUBLE, abs_bound DOUBLE,
  worst_over_bound DOUBLE, worst_flat BIGINT, worst_index BIGINT[], worst_original VARCHAR,
  worst_decoded VARCHAR, worst_error VARCHAR,
  cases STRUCT(case_name VARCHAR, core BOOLEAN, status VARCHAR, checked BIGINT, violations BIGINT,
    max_abs_error DOUBLE, abs_bound DOUBLE, ratio DOUBLE, side_bytes BIGINT, achieved DOUBLE,
    reached BOOLEAN, tries BIGINT)[],
  harness VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE verdicts IS 'Whether a kernel keeps its bound or equals the golden answer';
COMMENT ON COLUMN verdicts.run_id IS 'Its run, which names field and bound: JOIN runs USING (run_id)';
COMMENT ON COLUMN verdicts.kernel_id IS 'Kernel that was checked';
COMMENT ON COLUMN verdicts.status IS 'Rung that was reached, or why it is not on the ladder';
COMMENT ON COLUMN verdicts.stage IS 'First rung of the ladder that was not reached';
COMMENT ON COLUMN verdicts.holds IS
  'Whether no case violates or fails otherwise, and none of the core is refused';
COMMENT ON COLUMN verdicts.checked_values IS 'Elements compared';
COMMENT ON COLUMN verdicts.violations IS 'Elements outside the bound';
COMMENT ON COLUMN verdicts.max_abs_error IS 'Largest error of the case that decided';
COMMENT ON COLUMN verdicts.abs_bound IS 'Absolute bound of the case that decided';
COMMENT ON COLUMN verdicts.worst_over_bound IS 'max_abs_error / abs_bound; above 1 it is broken';
COMMENT ON COLUMN verdicts.worst_flat IS 'Flat index of the element of the largest error';
COMMENT ON COLUMN verdicts.worst_index IS 'Its index along each axis';
COMMENT ON COLUMN verdicts.worst_original IS 'Its original value, as text: NaN and -0 survive';
COMMENT ON COLUMN verdicts.worst_decoded IS 'What came back, as text';
COMMENT ON COLUMN verdicts.worst_error IS 'Their difference, as text';
COMMENT ON COLUMN verdicts.cases IS 'Every case of the suite, or the one field';
COMMENT ON COLUMN verdicts.harness IS 'Digest of what decided the result: see hosts';

CREATE TABLE violations (
  run_id VARCHAR, kernel_id VARCHAR, case_name VARCHAR, core BOOLEAN, status VARCHAR,
  checked_values BIGINT, violations BIGINT, max_abs_error DOUBLE, abs_bound DOUBLE,
  failure_kind VARCHAR, failure_message VARCHAR, flat BIGINT, element_index BIGINT[],
  original VARCHAR, decoded VARCHAR, error VARCHAR, shape BIGINT[], dtype VARCHAR,
  window_start BIGINT, window_original VARCHAR[], window_decoded VARCHAR[],
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE violations IS 'Cases and fields on which a kernel broke its bound or failed';
COMMENT ON COLUMN violations.run_id IS 'Run that found it';
COMMENT ON COLUMN violations.kernel_id IS 'Kernel that failed';
COMMENT ON COLUMN violations.case_name IS 'Case of the suite, or field';
COMMENT ON COLUMN violations.core IS
  'Whether a refusal of this case counts, as a violation does in any';
COMMENT ON COLUMN violations.status IS 'Rung that was reached on this case, or why it is not on it';
COMMENT ON COLUMN violations.checked_values IS 'Elements compared';
COMMENT ON COLUMN violations.violations IS 'Elements outside the bound';
COMMENT ON COLUMN violations.max_abs_error IS 'Largest error';
COMMENT ON COLUMN violations.abs_bound IS 'Absolute bound';
COMMENT ON COLUMN violations.failure_kind IS 'Cause, where it failed otherwise than by its values';
COMMENT ON COLUMN violations.failure_message IS 'What happened and what to do next';
COMMENT ON COLUMN violations.flat IS 'Flat index of the worst element';
COMMENT ON COLUMN violations.element_index IS 'Its index along each axis';
COMMENT ON COLUMN violations.original IS 'Its original value, as text: NaN and -0 survive';
COMMENT ON COLUMN violations.decoded IS 'What came back, as text';
COMMENT ON COLUMN violations.error IS 'Their difference, as text';
COMMENT ON COLUMN violations.shape IS 'Shape of the counterexample';
COMMENT ON COLUMN violations.dtype IS 'Data type of the counterexample';
COMMENT ON COLUMN violations.window_start IS 'Flat index of the first value of the window';
COMMENT ON COLUMN violations.window_original IS 'Original values around the worst element, as text';
COMMENT ON COLUMN violations.window_decoded IS 'What came back there, as text';

CREATE TABLE profiles (
  run_id VARCHAR, kernel_id VARCHAR, status VARCHAR, stage VARCHAR, field VARCHAR,
  mode VARCHAR, bound DOUBLE, abs_bound DOUBLE, bottleneck VARCHAR,
  harness VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE profiles IS 'Where kernels spend their time; the numbers are in metrics';
COMMENT ON COLUMN profiles.run_id IS 'Its run';
COMMENT ON COLUMN profiles.kernel_id IS 'Kernel that was profiled';
COMMENT ON COLUMN profiles.status IS 'Rung that was reached, or why it is not on the ladder';
COMMENT ON COLUMN profiles.stage IS 'First rung of the ladder that was not reached';
COMMENT ON COLUMN profiles.field IS 'Field of scientific data';
COMMENT ON COLUMN profiles.mode IS 'abs, rel, pw_rel, psnr, l2norm or ratio';
COMMENT ON COLUMN profiles.bound IS 'Bound as asked, in that mode';
COMMENT ON COLUMN profiles.abs_bound IS 'Absolute bound that the server derived';
COMMENT ON COLUMN profiles.bottleneck IS 'What limits the kernel, in a sentence';
COMMENT ON COLUMN profiles.harness IS 'Digest of what decided the result: see hosts';

CREATE TABLE metrics (
  kernel_id VARCHAR, call_id VARCHAR, run_id VARCHAR, origin VARCHAR, name VARCHAR, value DOUBLE,
  unit VARCHAR, provenance VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE metrics IS 'Named numbers of builds, runs and profiles';
COMMENT ON COLUMN metrics.kernel_id IS 'Kernel it is about';
COMMENT ON COLUMN metrics.call_id IS 'Call whose build it belongs to; NULL for a run';
COMMENT ON COLUMN metrics.run_id IS 'Run it belongs to; NULL for a build';
COMMENT ON COLUMN metrics.origin IS 'build, run or profile';
COMMENT ON COLUMN metrics.name IS 'Name of the number';
COMMENT ON COLUMN metrics.value IS 'The number';
COMMENT ON COLUMN metrics.unit IS 'Its unit';
COMMENT ON COLUMN metrics.provenance IS 'measured, derived, or reported (by the child, untrusted)';

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

CREATE TABLE marks (
  about VARCHAR, subject VARCHAR, verdict VARCHAR, reason VARCHAR, marked_by VARCHAR,
  kernel_id VARCHAR, agent VARCHAR, session VARCHAR,
  id UUID PRIMARY KEY, recorded_at TIMESTAMP, host VARCHAR, writer VARCHAR, segment VARCHAR,
  extra JSON);
COMMENT ON TABLE marks IS
  'Decisions of operators on what may be ranked; of several on one subject the last one counts';
COMMENT ON COLUMN marks.about IS 'kernel, run, agent, session or likeness';
COMMENT ON COLUMN marks.subject IS 'Which: kernel_id, run_id, agent, session or likeness';
COMMENT ON COLUMN marks.verdict IS
  'hidden: no ranking has it; cleared: takes that back, and a suspect result is ranked';
COMMENT ON COLUMN marks.reason IS 'Why, in a sentence';
COMMENT ON COLUMN marks.marked_by IS 'Who decided';
COMMENT ON COLUMN marks.kernel_id IS 'Kernel that it concerns; NULL if several';
COMMENT ON COLUMN marks.agent IS 'Agent that it concerns; NULL if several';
COMMENT ON COLUMN marks.session IS 'Session that it concerns; NULL if several';

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
