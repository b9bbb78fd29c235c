import type { TaskDetail } from '../../../api/contract.ts';
import { StateWithDot } from '../../../ui/controls/badge-and-state-dot.tsx';
import { formatMicros } from '../../../ui/number-formats.tsx';
import { TableCard } from '../../../ui/lists/table-card.tsx';
import { formatDuration, Time } from '../../../ui/times-and-durations.tsx';
import { wordAndToneOfJob, tasksText } from '../tasks-text.ts';

type Job = TaskDetail['operator']['providerJobs'][number];

/** The jobs at providers, in order, with what each of them cost. For operators. */
export function TaskJobs({ jobs }: { readonly jobs: readonly Job[] }) {
  return (
    <TableCard
      title={tasksText.jobs}
      none={<p class="card-note">{tasksText.noJobs}</p>}
      rows={jobs}
      rowKey={({ ordinal }) => ordinal}
      columns={[
        { title: tasksText.provider, kind: 'head', cell: (job) => <Provider job={job} /> },
        { title: tasksText.outcome, cell: (job) => <Outcome job={job} /> },
        { title: tasksText.cost, kind: 'end', cell: (job) => <Cost job={job} /> },
        { title: tasksText.took, kind: 'end', cell: durationOf },
        {
          title: tasksText.began,
          kind: 'end',
          cell: ({ intendTime }) => intendTime !== null && <Time ms={intendTime} />,
        },
      ]}
    />
  );
}

function Provider({ job: { ordinal, provider, jobId } }: { readonly job: Job }) {
  return (
    <>
      {ordinal}. {provider}
      <small class="under">{jobId === null ? tasksText.noJobId : <code>{jobId}</code>}</small>
    </>
  );
}

function Outcome({ job }: { readonly job: Job }) {
  const { failCode, failMsg, detail } = job;
  const { word, tone } = wordAndToneOfJob(job);
  return (
    <>
      <StateWithDot tone={tone}>{word}</StateWithDot>
      {(failCode !== null || failMsg !== null) && (
        <small class="under">
          {failCode !== null && <code>{failCode}</code>} {failMsg !== null && <bdi>{failMsg}</bdi>}
        </small>
      )}
      {detail !== null && (
        <small class="under">
          <bdi>{detail}</bdi>
        </small>
      )}
    </>
  );
}

/** Unknown cost is not zero. A job on our own worker has no price. */
function Cost({ job: { costMicros, costCurrency, costBasis, pool } }: { readonly job: Job }) {
  if (pool === null) return <span class="faint nowrap">{tasksText.ownMachine}</span>;
  if (costMicros === null || costCurrency === null) return <span class="faint">{tasksText.unknownCost}</span>;
  return (
    <>
      {formatMicros(costMicros, costCurrency)}
      {costBasis === 'estimated' && <small class="under">{tasksText.estimated}</small>}
    </>
  );
}

function durationOf({ intendTime, upstreamEndTime, endTime }: Job): string {
  const end = upstreamEndTime ?? endTime;
  return formatDuration(intendTime === null || end === null ? null : Math.max(0, end - intendTime));
}
