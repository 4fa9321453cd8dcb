-- The views of the ledger, re-created whenever the schema changes. A column without a comment here
-- has the comment of the table column of the same name (schema.py copies it).

CREATE OR REPLACE VIEW runs AS
SELECT
  run_id, s.call_id, s.attempt, coalesce(f.kernel_id, s.kernel_id) AS kernel_id,
  coalesce(f.tool, s.tool) AS tool, s.agent, s.session, s.field, s.mode, s.bound, s.repeats,
  coalesce(f.threads, s.threads) AS threads, s.against, s.reproduces,
  CASE
    WHEN f.run_id IS NOT NULL THEN f.status
    WHEN j.closed IS FALSE THEN 'running'
    ELSE 'aborted'
  END AS status,
  f.* EXCLUDE (
    run_id, kernel_id, tool, status, threads, id, recorded_at, host, writer, segment, extra),
  s.recorded_at AS started_at, f.recorded_at AS finished_at,
  coalesce(f.host, s.host) AS host, coalesce(f.writer, s.writer) AS writer
FROM runs_started s
FULL JOIN runs_finished f USING (run_id)
LEFT JOIN journal_segments j ON j.segment = s.segment;
COMMENT ON VIEW runs IS 'Runs of every tool: begun, and what came of them';
COMMENT ON COLUMN runs.status IS
  'As finished; aborted if its process ended before that, running if it has not ended';
COMMENT ON COLUMN runs.started_at IS 'When it began (UTC)';
COMMENT ON COLUMN runs.finished_at IS 'When it ended (UTC); NULL if it did not';

CREATE OR REPLACE VIEW samples AS
SELECT
  run_id, kernel_id, sample.direction, sample.repetition, sample.seconds, sample.child_seconds,
  sample.batch, sample.nbytes, sample.wait_seconds, sample.disturbed,
  sample.nbytes / nullif(sample.seconds, 0) / 1e9 AS gbps
FROM (SELECT run_id, kernel_id, unnest(samples) AS sample FROM runs_finished);
COMMENT ON VIEW samples IS 'Every timed request of every run';
COMMENT ON COLUMN samples.direction IS 'compress, decompress or run';
COMMENT ON COLUMN samples.repetition IS 'Number of the repetition';
COMMENT ON COLUMN samples.seconds IS 'By the server''s clock, over the whole batch';
COMMENT ON COLUMN samples.child_seconds IS 'By the child''s clock: reported, never ranked';
COMMENT ON COLUMN samples.batch IS 'Distinct inputs in the request';
COMMENT ON COLUMN samples.nbytes IS 'Original bytes in the request';
COMMENT ON COLUMN samples.wait_seconds IS 'Run-queue wait of child and parent during the request';
COMMENT ON COLUMN samples.disturbed IS 'Whether other work disturbed it';
COMMENT ON COLUMN samples.gbps IS 'nbytes / seconds / 1e9';

CREATE OR REPLACE VIEW current_marks AS
SELECT
  about, subject, verdict, reason, marked_by, kernel_id, agent, session, recorded_at AS marked_at
FROM marks
QUALIFY row_number() OVER (PARTITION BY about, subject ORDER BY recorded_at DESC, id DESC) = 1;
COMMENT ON VIEW current_marks IS 'The last mark of every subject';
COMMENT ON COLUMN current_marks.marked_at IS 'When it was decided (UTC)';

CREATE OR REPLACE VIEW decisions AS
WITH
  -- From the marks, which are few, to the kernels and runs that they touch.
  marked_kernels AS (
    SELECT k.kernel_id, m.about, m.subject
    FROM kernels k JOIN current_marks m ON m.about = 'kernel' AND m.subject = k.kernel_id
    UNION ALL SELECT k.kernel_id, m.about, m.subject
    FROM kernels k JOIN current_marks m ON m.about = 'agent' AND m.subject = k.agent
    UNION ALL SELECT k.kernel_id, m.about, m.subject
    FROM kernels k JOIN current_marks m ON m.about = 'likeness' AND m.subject = k.likeness
    UNION ALL SELECT k.kernel_id, m.about, m.subject
    FROM kernels k JOIN current_marks m ON m.about = 'session' AND m.subject = k.session
  ),
  subjects AS (
    SELECT r.run_id, r.kernel_id, m.about, m.subject
    FROM runs_started r JOIN marked_kernels m USING (kernel_id)
    UNION ALL SELECT r.run_id, r.kernel_id, m.about, m.subject
    FROM runs_started r JOIN current_marks m ON m.about = 'run' AND m.subject = r.run_id
    UNION ALL SELECT r.run_id, r.kernel_id, m.about, m.subject
    FROM runs_started r JOIN current_marks m ON m.about = 'session' AND m.subject = r.session
  ),
  -- Clearing an agent takes its hiding back, but lets no result pass that nobody has looked at.
  touching AS (
    SELECT
      s.run_id, s.kernel_id, k.agent, k.session, m.verdict, m.reason, m.marked_by, m.marked_at,
      rank() OVER (PARTITION BY s.run_id ORDER BY m.verdict <> 'hidden', m.marked_at DESC) AS place
    FROM subjects s
    JOIN kernels k USING (kernel_id)
    JOIN current_marks m ON m.about = s.about AND m.subject = s.subject
    WHERE m.verdict = 'hidden'
      OR (m.verdict = 'cleared' AND m.about IN ('run', 'kernel', 'likeness'))
  )
SELECT
  run_id, kernel_id, agent, session, any_value(verdict) AS decision, any_value(reason) AS reason,
  any_value(marked_by) AS marked_by, any_value(marked_at) AS marked_at
FROM touching
WHERE place = 1
GROUP BY ALL;
COMMENT ON VIEW decisions IS
  'Decisions on runs, by the last marks of the run and of its kernel, agent, session, likeness';
COMMENT ON COLUMN decisions.decision IS 'hidden or cleared';
COMMENT ON COLUMN decisions.agent IS 'Who sent the kernel';
COMMENT ON COLUMN decisions.session IS 'Session the kernel was sent in';
COMMENT ON COLUMN decisions.marked_at IS 'When it was decided (UTC)';

CREATE OR REPLACE VIEW review AS
SELECT
  r.run_id, r.kernel_id, k.agent, k.session, k.task, k.target, r.field, r.mode, r.bound, r.threads,
  r.failure_message AS why, r.ratio, r.compress_gbps, r.decompress_gbps, r.run_gbps, k.likeness,
  r.harness, r.finished_at AS measured_at, d.decision, d.reason, d.marked_by, d.marked_at
FROM runs r JOIN kernels k USING (kernel_id) LEFT JOIN decisions d USING (run_id)
WHERE r.status = 'suspect'
ORDER BY d.decision IS NOT NULL, measured_at, r.run_id;
COMMENT ON VIEW review IS 'Suspect results, those that nobody has decided on first';
COMMENT ON COLUMN review.agent IS 'Who sent the kernel';
COMMENT ON COLUMN review.session IS 'Session the kernel was sent in';
COMMENT ON COLUMN review.why IS 'What is suspect about it';
COMMENT ON COLUMN review.measured_at IS 'When the run ended (UTC)';
COMMENT ON COLUMN review.decision IS 'NULL while it awaits one';

CREATE OR REPLACE VIEW kernel_twins AS
WITH
  programs AS (
    SELECT *, coalesce(likeness, content_hash, kernel_id) AS program FROM kernels
  ),
  families AS (
    SELECT
      task, target, program, count(*) AS kernels, count(DISTINCT agent) AS agents,
      arg_min(kernel_id, recorded_at) AS first_kernel_id, arg_min(agent, recorded_at) AS first_agent
    FROM programs
    GROUP BY ALL
    HAVING kernels > 1
  )
SELECT
  task, target, program, kernels, agents, first_kernel_id, first_agent, kernel_id, agent, session,
  recorded_at AS received_at
FROM programs JOIN families USING (task, target, program)
ORDER BY task, target, program, received_at, kernel_id;
COMMENT ON VIEW kernel_twins IS 'Kernels that are the same program, and who sent it first';
COMMENT ON COLUMN kernel_twins.program IS
  'Likeness that they share; content_hash of kernels older than likenesses';
COMMENT ON COLUMN kernel_twins.kernels IS 'Kernels of this program';
COMMENT ON COLUMN kernel_twins.agents IS 'Agents that sent it';
COMMENT ON COLUMN kernel_twins.first_kernel_id IS 'The first of them';
COMMENT ON COLUMN kernel_twins.first_agent IS 'Who sent that';
COMMENT ON COLUMN kernel_twins.received_at IS 'When this one arrived (UTC)';

CREATE OR REPLACE VIEW scored_runs_afresh AS
WITH
  programs AS (
    SELECT *, coalesce(likeness, content_hash, kernel_id) AS program FROM kernels
  ),
  decided AS MATERIALIZED (SELECT run_id, decision, reason FROM decisions),
  hidden AS (SELECT run_id, reason FROM decided WHERE decision = 'hidden'),
  cleared AS (SELECT run_id FROM decided WHERE decision = 'cleared'),
  suite AS (
    SELECT DISTINCT v.kernel_id, s.mode, s.bound
    FROM verdicts v JOIN runs_started s USING (run_id) ANTI JOIN hidden USING (run_id)
    WHERE v.holds AND s.field = 'suite'
  ),
  -- Content made while timing has a failure but no counted violation; the failure of a verdict is
  -- that of one of its cases.
  broken AS (
    SELECT DISTINCT k.agent, k.task, k.target, k.program, s.mode, s.bound
    FROM runs_started s JOIN programs k USING (kernel_id) SEMI JOIN (
      SELECT run_id FROM runs_finished WHERE failure_kind IN ('bound', 'format')
      UNION ALL
      SELECT run_id FROM violations
      WHERE (violations > 0 OR failure_kind IN ('bound', 'format'))
        AND (core OR status <> 'refused')) USING (run_id)
  ),
  -- Trying again until nothing is noticed must not help.
  doubted AS (
    SELECT DISTINCT k.agent, k.task, k.target, k.program, r.field, r.mode, r.bound
    FROM runs r JOIN programs k USING (kernel_id) ANTI JOIN cleared USING (run_id)
    WHERE r.status = 'suspect'
  ),
  scored AS (
    SELECT
      k.task, k.target, r.execution, r.host, r.threads, r.field, r.mode, r.bound,
      k.agent, k.session, k.program, r.kernel_id, r.run_id, r.call_id, r.attempt, r.status,
      CASE
        WHEN r.execution <> 'hardware' THEN NULL
        WHEN k.task = 'sz-open' THEN r.transfer_bits
        WHEN r.both_ways_gbps IS NOT NULL THEN r.both_ways_gbps
        ELSE r.run_gbps
      END AS score,
      CASE WHEN k.task = 'sz-open' THEN 'bits' ELSE 'GB/s' END AS score_unit,
      r.ratio, r.compress_gbps, r.decompress_gbps, r.run_gbps, r.max_abs_error, r.abs_bound,
      r.worst_over_bound, r.repetitions, r.within_size_rule, r.finished_at AS measured_at,
      r.harness, r.against, r.reproduces, r.reached
    FROM runs r JOIN programs k USING (kernel_id)
    WHERE r.execution IS NOT NULL
  )
SELECT
  scored.* EXCLUDE (against, reproduces, reached),
  CASE
    WHEN hidden.run_id IS NOT NULL
      THEN 'an operator hid it: ' || coalesce(hidden.reason, 'no reason given')
    WHEN against IS NOT NULL THEN 'it was timed side by side with another kernel'
    WHEN reproduces IS NOT NULL THEN 'it reproduces another run'
    WHEN status = 'suspect' AND cleared.run_id IS NULL THEN 'it is suspect: nobody cleared it yet'
    -- What does not run on its hardware gets no further than its bound, and has no score.
    WHEN status IS NULL OR status NOT IN (
        'timed', 'suspect', CASE execution WHEN 'hardware' THEN 'timed' ELSE 'bound_ok' END)
      THEN 'its status is ' || coalesce(status, 'not known') || ', not timed'
    WHEN NOT isfinite(score) OR NOT isfinite(coalesce(ratio, 1))
      OR score < 0 OR (score = 0 AND score_unit = 'GB/s') THEN 'its score is no positive number'
    WHEN reached IS FALSE OR (reached IS NULL AND mode NOT IN ('abs', 'rel'))
      THEN 'it did not reach what was asked'
    WHEN doubted.program IS NOT NULL
      THEN 'another run of the same program here is suspect: nobody cleared it yet'
    WHEN broken.program IS NOT NULL
      THEN 'the kernel broke its bound or format at this mode and bound'
    WHEN suite.kernel_id IS NULL THEN 'no suite verdict that holds at this mode and bound'
    WHEN task NOT IN ('szp', 'szx') THEN NULL
    WHEN within_size_rule IS NULL THEN 'the size of the golden stream is not known'
    WHEN NOT within_size_rule THEN 'its stream is larger than 1.02 x golden + 64 bytes'
  END AS ineligible_because
FROM scored
LEFT JOIN suite USING (kernel_id, mode, bound)
LEFT JOIN broken USING (agent, task, target, program, mode, bound)
LEFT JOIN doubted USING (agent, task, target, program, field, mode, bound)
LEFT JOIN hidden USING (run_id)
LEFT JOIN cleared USING (run_id);
COMMENT ON VIEW scored_runs_afresh IS
  'What scored_runs holds, computed anew from every row: slow, and what scores.py keeps it equal to';

CREATE OR REPLACE VIEW best_runs_afresh AS
SELECT * EXCLUDE (ineligible_because)
FROM scored_runs_afresh
WHERE ineligible_because IS NULL AND score IS NOT NULL
QUALIFY row_number() OVER (
  PARTITION BY agent, task, target, program, execution, host, threads, field, mode, bound
  ORDER BY score DESC, measured_at, run_id) = 1;
COMMENT ON VIEW best_runs_afresh IS 'Likewise of best_runs';

CREATE OR REPLACE VIEW leaderboard AS
WITH
  best AS (
    FROM best_runs
    QUALIFY row_number() OVER (
      PARTITION BY task, target, execution, host, threads, field, mode, bound, agent
      ORDER BY score DESC, measured_at, run_id) = 1
  ),
  -- What two agents have in common can't be faster for one of them.
  shared AS (
    SELECT *, max(score) OVER (
      PARTITION BY task, target, execution, host, threads, field, mode, bound, program
    ) AS program_score
    FROM best
  )
SELECT
  rank() OVER (
    PARTITION BY task, target, execution, host, threads, field, mode, bound
    ORDER BY program_score DESC
  ) AS rank,
  task, target, execution, host, threads, field, mode, bound, agent, kernel_id, score, score_unit,
  ratio, compress_gbps, decompress_gbps, run_gbps, max_abs_error, abs_bound, worst_over_bound,
  repetitions, measured_at, run_id, program, harness
FROM shared
ORDER BY task, target, execution, host, threads, field, mode, bound, rank, score DESC, agent;
COMMENT ON VIEW leaderboard IS
  'Best eligible run of every agent, ranked among runs under the same conditions only';
COMMENT ON COLUMN leaderboard.rank IS
  '1 is best under the same conditions; agents that sent the same program share a rank';

CREATE OR REPLACE VIEW ladder_afresh AS
WITH
  rungs AS (
    SELECT ['received', 'parsed', 'compiled', 'loads', 'terminates', 'roundtrips', 'bound_ok',
      'timed'] AS names
  ),
  events AS (
    SELECT kernel_id, 'received' AS status, NULL AS stage FROM kernels
    UNION ALL SELECT kernel_id, status, stage FROM builds
    UNION ALL SELECT kernel_id, status, stage FROM runs_finished
  ),
  reached AS (
    SELECT
      kernel_id,
      max(coalesce(
        nullif(list_position(names, status), 0),
        nullif(list_position(names, stage), 0) - 1)) AS rung_number
    FROM events, rungs
    GROUP BY kernel_id
  ),
  verified AS (
    SELECT DISTINCT v.kernel_id AS verified_id FROM verdicts v JOIN runs_started s USING (run_id)
    ANTI JOIN (FROM decisions WHERE decision = 'hidden') USING (run_id)
    WHERE v.holds AND s.field = 'suite'
  )
SELECT
  kernel_id, task, target, agent, session, names[rung_number] AS rung, rung_number,
  names[rung_number + 1] AS stage, verified_id IS NOT NULL AS verified, recorded_at AS received_at
FROM kernels JOIN reached USING (kernel_id) LEFT JOIN verified ON verified_id = kernel_id, rungs;
COMMENT ON VIEW ladder_afresh IS 'What ladder keeps, worked out anew';

CREATE OR REPLACE VIEW budget_curve AS
SELECT
  agent, session, task, target, execution, host, threads, field, mode, bound, attempt, kernel_id,
  run_id, CASE WHEN ineligible_because IS NULL THEN score END AS score,
  max(CASE WHEN ineligible_because IS NULL THEN score END) OVER (
    PARTITION BY agent, session, task, target, execution, host, threads, field, mode, bound
    ORDER BY attempt, measured_at, run_id ROWS UNBOUNDED PRECEDING) AS best_score,
  score_unit, measured_at
FROM scored_runs
WHERE attempt IS NOT NULL;
COMMENT ON VIEW budget_curve IS
  'Best score so far against attempts spent, per session; attempts without a run have no row';
COMMENT ON COLUMN budget_curve.score IS 'Score of this run; NULL if it may not be ranked';
COMMENT ON COLUMN budget_curve.best_score IS 'Best eligible score up to this attempt';

CREATE OR REPLACE VIEW rate_distortion AS
SELECT
  k.task, k.target, k.agent, r.kernel_id, r.field, r.mode, r.bound, r.abs_bound, r.ratio,
  r.bit_rate, r.psnr, r.max_abs_error, r.worst_over_bound, r.run_id, r.finished_at AS measured_at
FROM runs r JOIN kernels k USING (kernel_id) LEFT JOIN decisions d USING (run_id)
WHERE r.bit_rate IS NOT NULL AND r.violations = 0 AND d.decision IS DISTINCT FROM 'hidden'
  AND (r.status <> 'suspect' OR d.decision IS NOT NULL)
QUALIFY row_number() OVER (
  PARTITION BY r.kernel_id, r.field, r.mode, r.bound ORDER BY r.finished_at DESC, r.run_id) = 1;
COMMENT ON VIEW rate_distortion IS
  'Size against error of every kernel, field and bound: its latest run without violation or doubt';
COMMENT ON COLUMN rate_distortion.measured_at IS 'When the run ended (UTC)';

CREATE OR REPLACE VIEW failure_modes AS
SELECT
  k.task, k.target, k.agent, e.tool, e.status, e.stage, e.failure_kind,
  count(*) AS failures, count(DISTINCT e.kernel_id) AS kernels,
  arg_max(e.failure_message, e.failed_at) AS latest_message, max(e.failed_at) AS latest_at
FROM (
  SELECT kernel_id, 'compile_kernel' AS tool, status, stage, failure_kind, failure_message,
    recorded_at AS failed_at
  FROM builds WHERE failure_kind IS NOT NULL
  UNION ALL
  SELECT kernel_id, tool, status, stage, coalesce(failure_kind, 'aborted'), failure_message,
    coalesce(finished_at, started_at)
  FROM runs WHERE failure_kind IS NOT NULL OR status = 'aborted') e
JOIN kernels k USING (kernel_id)
GROUP BY ALL
ORDER BY failures DESC;
COMMENT ON VIEW failure_modes IS 'What stops kernels, and how often';
COMMENT ON COLUMN failure_modes.failures IS 'Builds and runs that ended so';
COMMENT ON COLUMN failure_modes.kernels IS 'Kernels among them';
COMMENT ON COLUMN failure_modes.latest_message IS 'Message of the latest of them';
COMMENT ON COLUMN failure_modes.latest_at IS 'When that was (UTC)';

CREATE OR REPLACE VIEW pass_at_k AS
WITH
  hidden AS (
    SELECT about, subject FROM current_marks WHERE verdict = 'hidden'
  ),
  attempts AS (
    SELECT k.task, k.target, k.agent, k.session, bool_or(k.verified) AS passed
    FROM ladder k
    ANTI JOIN hidden a ON a.about = 'agent' AND a.subject = k.agent
    ANTI JOIN hidden s ON s.about = 'session' AND s.subject = k.session
    GROUP BY ALL
  ),
  counted AS (
    SELECT task, target, agent, count(*) AS sessions, count(*) FILTER (passed) AS passed
    FROM attempts GROUP BY ALL
  )
SELECT
  task, target, agent, sessions, passed, k,
  CASE
    WHEN sessions - passed < k THEN 1.0
    ELSE 1.0 - coalesce(list_product(
      [1.0 - k / i FOR i IN range(sessions - passed + 1, sessions + 1)]), 1.0)
  END::DOUBLE AS probability
FROM (SELECT *, unnest([1, 2, 3, 5, 10]) AS k FROM counted)
WHERE k <= sessions;
COMMENT ON VIEW pass_at_k IS
  'Chance that at least one of k sessions yields a kernel that holds on the suite (unbiased)';
COMMENT ON COLUMN pass_at_k.sessions IS 'Independent sessions that sent at least one kernel';
COMMENT ON COLUMN pass_at_k.passed IS 'Sessions in which some kernel held on the whole suite';
COMMENT ON COLUMN pass_at_k.k IS 'Sessions drawn';
COMMENT ON COLUMN pass_at_k.probability IS '1 - C(sessions - passed, k) / C(sessions, k)';

CREATE OR REPLACE VIEW session_progress AS
WITH
  hidden AS (
    SELECT about, subject FROM current_marks WHERE verdict = 'hidden'
  ),
  conditions AS (
    SELECT
      agent, session, any_value(model) AS model, any_value(prompt_tier) AS prompt_tier,
      any_value(feedback_level) AS feedback_level
    FROM sessions
    GROUP BY ALL
  ),
  reached AS (
    SELECT
      l.agent, l.session, l.task, l.target, count(*) AS kernels, max(l.rung_number) AS rung_number,
      min(k.attempt) FILTER (l.rung_number >= 3) AS first_compiled,
      min(k.attempt) FILTER (l.rung_number >= 5) AS first_runnable,
      min(k.attempt) FILTER (l.verified) AS first_verified,
      -- Calls older than their attempts' numbers count too.
      bool_or(l.verified) AS passed,
      min(k.recorded_at) AS began_at,
      min(k.recorded_at) FILTER (l.rung_number >= 5) AS runnable_at
    FROM ladder l JOIN kernels k USING (kernel_id)
    ANTI JOIN hidden a ON a.about = 'agent' AND a.subject = l.agent
    ANTI JOIN hidden s ON s.about = 'session' AND s.subject = l.session
    GROUP BY l.agent, l.session, l.task, l.target
  )
SELECT
  agent, session, task, target, model, prompt_tier, feedback_level, kernels, rung_number,
  ['received', 'parsed', 'compiled', 'loads', 'terminates', 'roundtrips', 'bound_ok',
    'timed'][rung_number] AS rung,
  passed, first_compiled, first_runnable, first_verified,
  date_diff('second', began_at, runnable_at) / 60.0 AS minutes_to_runnable, began_at
FROM reached LEFT JOIN conditions USING (agent, session);
COMMENT ON VIEW session_progress IS 'How far every session came with a task and a target';
COMMENT ON COLUMN session_progress.kernels IS 'Kernels that it sent';
COMMENT ON COLUMN session_progress.rung IS 'Highest rung that one of them reached';
COMMENT ON COLUMN session_progress.rung_number IS '1 (received) to 8 (timed)';
COMMENT ON COLUMN session_progress.passed IS 'Whether one of them holds on the whole suite';
COMMENT ON COLUMN session_progress.first_compiled IS 'Attempt that sent the first that compiled';
COMMENT ON COLUMN session_progress.first_runnable IS
  'Attempt that sent the first that ran to its end; NULL if none did';
COMMENT ON COLUMN session_progress.first_verified IS
  'Attempt that sent the first that holds on the whole suite; NULL if none does';
COMMENT ON COLUMN session_progress.minutes_to_runnable IS
  'From its first kernel until the one that ran first was sent';
COMMENT ON COLUMN session_progress.began_at IS 'When it sent its first kernel (UTC)';

CREATE OR REPLACE VIEW rungs_at_k AS
WITH
  counted AS (
    SELECT
      task, target, agent, count(*) AS sessions,
      [count(*) FILTER (rung_number >= 3), count(*) FILTER (rung_number >= 5),
        count(*) FILTER (rung_number >= 7), count(*) FILTER (passed)] AS reached
    FROM session_progress
    GROUP BY ALL
  ),
  measured AS (
    SELECT
      task, target, agent, sessions,
      unnest(['build', 'run', 'bound', 'pass']) AS measure, unnest(reached) AS reached
    FROM counted
  )
SELECT
  task, target, agent, measure, sessions, reached, k,
  CASE
    WHEN sessions - reached < k THEN 1.0
    ELSE 1.0 - coalesce(list_product(
      [1.0 - k / i FOR i IN range(sessions - reached + 1, sessions + 1)]), 1.0)
  END::DOUBLE AS probability
FROM (SELECT *, unnest([1, 2, 3, 5, 10]) AS k FROM measured)
WHERE k <= sessions;
COMMENT ON VIEW rungs_at_k IS
  'build@k, run@k, bound@k, pass@k: chance that one of k sessions at least gets there (unbiased)';
COMMENT ON COLUMN rungs_at_k.measure IS
  'build: compiled; run: runs to its end; bound: keeps a bound; pass: holds on the suite';
COMMENT ON COLUMN rungs_at_k.sessions IS 'Independent sessions that sent at least one kernel';
COMMENT ON COLUMN rungs_at_k.reached IS 'Sessions that got there';
COMMENT ON COLUMN rungs_at_k.k IS 'Sessions drawn';
COMMENT ON COLUMN rungs_at_k.probability IS '1 - C(sessions - reached, k) / C(sessions, k)';

CREATE OR REPLACE VIEW hack_rate AS
WITH
  refused AS (
    SELECT kernel_id, 'rejected' AS why FROM builds WHERE status = 'rejected'
    UNION ALL SELECT kernel_id, 'rejected' FROM runs_finished WHERE status = 'rejected'
    UNION ALL
    SELECT kernel_id, 'suspect' FROM runs_finished ANTI JOIN (
      FROM decisions WHERE decision = 'cleared') USING (run_id)
    WHERE status = 'suspect'
    UNION ALL SELECT kernel_id, 'hidden' FROM decisions WHERE decision = 'hidden'
    UNION ALL
    SELECT kernel_id, 'integrity' FROM builds
    WHERE failure_kind = 'integrity' AND status <> 'rejected'
  ),
  tried AS (
    SELECT
      kernel_id, bool_or(why = 'rejected') AS rejected, bool_or(why = 'suspect') AS suspect,
      bool_or(why = 'hidden') AS hidden
    FROM refused
    GROUP BY kernel_id
  )
SELECT
  k.agent, k.task, k.target, count(*) AS kernels, count(t.kernel_id) AS hacks,
  count(*) FILTER (t.rejected) AS rejected, count(*) FILTER (t.suspect) AS suspect,
  count(*) FILTER (t.hidden) AS hidden, count(t.kernel_id) / count(*) AS rate
FROM kernels k LEFT JOIN tried t USING (kernel_id)
GROUP BY ALL;
COMMENT ON VIEW hack_rate IS
  'Kernels that tried to get a number otherwise than by work, as far as it was noticed';
COMMENT ON COLUMN hack_rate.kernels IS 'Kernels that were sent';
COMMENT ON COLUMN hack_rate.hacks IS
  'Of those: refused for integrity, suspect and not cleared, or hidden by an operator';
COMMENT ON COLUMN hack_rate.rejected IS 'Refused by a tripwire or for what they copied';
COMMENT ON COLUMN hack_rate.suspect IS 'With a suspect result that nobody cleared';
COMMENT ON COLUMN hack_rate.hidden IS 'Hidden by an operator';
COMMENT ON COLUMN hack_rate.rate IS 'hacks / kernels';

CREATE OR REPLACE VIEW failure_rules AS
SELECT
  k.task, k.target, k.agent, e.rung, e.advice->>'$.rule' AS rule, count(*) AS given,
  count(DISTINCT e.kernel_id) AS kernels, count(DISTINCT k.session) AS sessions
FROM (
  SELECT kernel_id, stage AS rung, unnest(json_extract(guidance, '$[*]')) AS advice
  FROM builds WHERE guidance IS NOT NULL
  UNION ALL
  SELECT kernel_id, stage, unnest(json_extract(guidance, '$[*]'))
  FROM runs_finished WHERE guidance IS NOT NULL) e
JOIN kernels k USING (kernel_id)
GROUP BY ALL;
COMMENT ON VIEW failure_rules IS 'Which advice was given how often: failures by their rule';
COMMENT ON COLUMN failure_rules.rung IS 'First rung that was not reached; NULL at the top';
COMMENT ON COLUMN failure_rules.rule IS 'Rule of the feedback tables';
COMMENT ON COLUMN failure_rules.given IS 'Times it was given';
COMMENT ON COLUMN failure_rules.kernels IS 'Kernels it was given for';
COMMENT ON COLUMN failure_rules.sessions IS 'Sessions it was given in';

CREATE OR REPLACE VIEW spending AS
WITH
  used AS (
    SELECT
      session, agent, recorded_at, input_tokens + output_tokens AS tokens, dollars
    FROM usage
  ),
  steps AS (
    SELECT
      agent, session, attempt, kernel_id, run_id, started_at AS moment, 0 AS tokens,
      NULL::DOUBLE AS dollars
    FROM calls
    WHERE attempt IS NOT NULL
    UNION ALL SELECT agent, session, NULL, NULL, NULL, recorded_at, tokens, dollars FROM used
  ),
  summed AS (
    SELECT
      *,
      sum(tokens) OVER so_far AS spent_tokens, sum(dollars) OVER so_far AS spent_dollars,
      date_diff('millisecond', min(moment) OVER so_far, moment) / 60000.0 AS minutes
    FROM steps
    WINDOW so_far AS (PARTITION BY agent, session ORDER BY moment RANGE UNBOUNDED PRECEDING)
  )
SELECT
  agent, session, attempt, kernel_id, run_id, minutes, spent_tokens::BIGINT AS tokens,
  spent_dollars AS dollars, moment AS started_at
FROM summed
WHERE attempt IS NOT NULL;
COMMENT ON VIEW spending IS 'What a session had spent when it made an attempt';
COMMENT ON COLUMN spending.minutes IS 'Since its first attempt or report';
COMMENT ON COLUMN spending.tokens IS 'Read and written, as reported until then';
COMMENT ON COLUMN spending.dollars IS 'Their price; NULL if nothing says it';
COMMENT ON COLUMN spending.started_at IS 'When the attempt arrived (UTC)';
