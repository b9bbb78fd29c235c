import type { TaskDetail } from '../../api/contract.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { duration } from '../../ui/time.tsx';

type Job = TaskDetail['providerJobs'][number];

const outcomes: Readonly<Record<NonNullable<Job['outcome']>, readonly [word: string, tone: Tone]>> = {
  success: ['Succeeded', 'good'],
  fail: ['Failed', 'bad'],
  not_created: ['Not created', 'calm'],
  refused: ['Refused', 'warn'],
  abandoned: ['Given up', 'warn'],
  late_success: ['Finished too late', 'warn'],
};

/** What was asked of providers for this task, in order. */
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
            { title: 'Provider', kind: 'head', cell: ({ ordinal, provider }) => `${ordinal}. ${provider}` },
            { title: 'Job', cell: ({ jobId }) => (jobId === null ? 'unknown' : <code>{jobId}</code>) },
            { title: 'Outcome', cell: (job) => <Outcome job={job} /> },
            { title: 'Began', kind: 'end', cell: ({ ageMs }) => `${duration(ageMs)} ago` },
          ]}
        />
      )}
    </Card>
  );
}

function Outcome({ job: { outcome, failCode, failMsg } }: { readonly job: Job }) {
  const [word, tone] = outcome === null ? (['Running', 'live'] as const) : outcomes[outcome];
  return (
    <>
      <StateDot tone={tone}>{word}</StateDot>
      {failCode !== null && (
        <small class="sub">
          <code>{failCode}</code> {failMsg !== null && <bdi>{failMsg}</bdi>}
        </small>
      )}
    </>
  );
}
