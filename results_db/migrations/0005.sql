ALTER TABLE kernels ADD COLUMN likeness VARCHAR;
ALTER TABLE hosts ADD COLUMN harness VARCHAR;
ALTER TABLE builds ADD COLUMN harness VARCHAR;
ALTER TABLE runs_finished ADD COLUMN harness VARCHAR;
ALTER TABLE verdicts ADD COLUMN harness VARCHAR;
ALTER TABLE profiles ADD COLUMN harness VARCHAR;
COMMENT ON COLUMN kernels.likeness IS
  'Hash that programs share if only names, comments, spellings, order or files differ';
COMMENT ON COLUMN hosts.harness IS
  'Digest of what decides scores: our Python source, versions of Python, NumPy, numba and llvmlite';
COMMENT ON COLUMN builds.harness IS 'Digest of what decided the result: see hosts';
COMMENT ON COLUMN runs_finished.harness IS 'Digest of what decided the result: see hosts';
COMMENT ON COLUMN verdicts.harness IS 'Digest of what decided the result: see hosts';
COMMENT ON COLUMN profiles.harness IS 'Digest of what decided the result: see hosts';

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
