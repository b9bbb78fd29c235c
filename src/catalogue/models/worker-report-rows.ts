import type { WorkerReport } from './models-served-by-workers.ts';
import { many, noRows } from '../../platform/database/declare-statements.ts';

/** Stores a worker's report, and deletes those of workers that stopped a day ago. */
export const saveReportAndDeleteOld = noRows<[report: WorkerReport]>({
  name: 'save-worker-report',
  text: `
with expired as (delete from worker_reports where seen_at < now() - interval '1 day' and worker_id <> $1)
insert into worker_reports (worker_id, queue, models, refusal) values ($1, $2, $3, $4)
on conflict (worker_id, queue) do update set models = excluded.models, refusal = excluded.refusal, seen_at = now()`,
  values: ({ workerId, queue, models, refusal }) => [workerId, queue, models, refusal],
});

export const deleteReportsOfWorker = noRows<[workerId: string]>({
  name: 'delete-worker-reports',
  text: 'delete from worker_reports where worker_id = $1',
});

/** Lists the reports of the last 30 seconds. */
export const listLiveWorkerReports = many<WorkerReport>({
  name: 'list-worker-reports',
  text: `
select worker_id as "workerId", queue, models, refusal from worker_reports
where seen_at > now() - interval '30 seconds' order by worker_id, queue limit 1000`,
});
