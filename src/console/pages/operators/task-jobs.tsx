import type { TaskDetail } from '../../api/contract.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { moneyOf } from '../../ui/money.tsx';

type Job = TaskDetail['providerJobs'][number];

const outcomes: Readonly<Record<NonNullable<Job['outcome']>, readonly [word: string, tone: Tone]>> = {
  success: ['Succeeded', 'good'],
  fail: ['Failed', 'bad'],
  not_created: ['Not created', 'calm'],
  refused: ['Refused', 'warn'],
  abandoned: ['Given up', 'warn'],
  late_success: ['Finished too late', 'warn'],
};

/** What was asked of providers for this task, in order, with what each of them cost. */
export function TaskJobs({ detail: { providerJobs } }: { readonly detail: TaskDetail }) {
  return (
    <Card title="Upstream jobs" isFlush>
      {providerJobs.length === 0 ? (
        <p class="card-note">No provider was asked yet.</p>
      ) : (
        <Table
          caption="Upstream jobs"
          rows={providerJobs}
          rowKey={({ ordinal }) => ordinal}
          columns={[
            { title: 'Provider', kind: 'head', cell: (job) => <Where job={job} /> },
            { title: 'Outcome', cell: (job) => <Outcome job={job} /> },
            { title: 'Cost', kind: 'end', cell: (job) => <Cost job={job} /> },
            { title: 'Took', kind: 'end', cell: (job) => tookOf(job) },
            { title: 'Began', kind: 'end', cell: ({ intendTime }) => intendTime !== null && <Time ms={intendTime} /> },
          ]}
        />
      )}
    </Card>
  );
}

function Where({ job: { ordinal, provider, jobId } }: { readonly job: Job }) {
  return (
    <>
      {ordinal}. {provider}
      <small class="under">{jobId === null ? 'id unknown' : <code>{jobId}</code>}</small>
    </>
  );
}

function Outcome({ job: { outcome, failCode, failMsg, detail, intendTime } }: { readonly job: Job }) {
  const [word, tone] =
    outcome === null ? ([intendTime === null ? 'Place reserved' : 'Running', 'live'] as const) : outcomes[outcome];
  const said = failMsg ?? detail;
  return (
    <>
      <StateDot tone={tone}>{word}</StateDot>
      {(failCode !== null || said !== null) && (
        <small class="under">
          {failCode !== null && <code>{failCode}</code>} {said !== null && <bdi>{said}</bdi>}
        </small>
      )}
    </>
  );
}

/** What nobody knows is not nothing. A job on our own machine has no price. */
function Cost({ job: { costMicros, costCurrency, costBasis, pool } }: { readonly job: Job }) {
  if (pool === null) return <span class="faint nowrap">own machine</span>;
  if (costMicros === null || costCurrency === null) return <span class="faint">unknown</span>;
  return (
    <>
      {moneyOf(costMicros, costCurrency)}
      {costBasis === 'estimated' && <small class="under">estimated</small>}
    </>
  );
}

function tookOf({ intendTime, upstreamEndTime, endTime }: Job): string {
  const end = upstreamEndTime ?? endTime;
  return intendTime === null || end === null ? '–' : duration(Math.max(0, end - intendTime));
}
