import type { Database } from '../../../src/platform/database/database.ts';
import { jobStateRules } from '../../../src/tasks/jobs/job-states.ts';

/** SQL for the state of a row of `provider_jobs`, by the conditions of the declared table. */
export const jobState = `case ${Object.entries(jobStateRules)
  .map(([state, { row, step }]) => `when ${step === undefined ? '' : 'outcome is null and '}${row} then '${state}'`)
  .join(' ')} end`;

/** Records each change of a job's state in this database, by a trigger. */
export async function recordTransitions(db: Database): Promise<void> {
  for (const text of [
    'create table test_transitions (earlier text, later text)',
    `create function record_test_transition() returns trigger language plpgsql as $$
declare was text; became text;
begin
  select ${jobState} into became from (select new.*) job;
  if tg_op = 'UPDATE' then select ${jobState} into was from (select old.*) job; end if;
  if was is distinct from became then insert into test_transitions values (was, became); end if;
  return null;
end $$`,
    `create trigger record_test_transition after insert or update on provider_jobs
for each row execute function record_test_transition()`,
  ])
    await db.run({ name: 'test-record-transitions', text, plannedAnew: true });
}

/** Lists the recorded changes that the declared table does not allow. A row begins with a leased slot, or on our own machine as a run. */
export async function unknownTransitions(db: Database): Promise<readonly string[]> {
  const text = 'select distinct earlier, later from test_transitions';
  const rows = await db.run<{ readonly earlier: keyof typeof jobStateRules | null; readonly later: string }>({
    name: 'test-transitions',
    text,
  });
  return rows.flatMap(({ earlier, later }) => {
    const allowed: readonly string[] = earlier === null ? ['reserved', 'in_request'] : jobStateRules[earlier].leadsTo;
    return allowed.includes(later) ? [] : [`${earlier ?? 'none'} to ${later}`];
  });
}
