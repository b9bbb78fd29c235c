import type { Answer } from '../../api/call.ts';
import type { ModelUsage } from '../../api/contract.ts';
import { formatNumber } from '../../ui/number-formats.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import type { Column } from '../../ui/lists/table.tsx';
import { formatDuration } from '../../ui/times-and-durations.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { usageText } from './usage-text.ts';

export type UsageReport = Answer<'/api/v1/usage'>;

type Ended = Pick<ModelUsage, 'succeeded' | 'failed'>;

/** "98.4%" of the tasks that ended, or a dash without one. Rounded down, so that 100% means all. */
export function formatSuccessRate({ succeeded, failed }: Ended): string {
  const ended = succeeded + failed;
  return ended === 0 ? '–' : `${Math.floor((1_000 * succeeded) / ended) / 10}%`;
}

/** Success and latency of each model. */
export function ModelUsageCard({ report }: { readonly report: UsageReport | undefined }) {
  return (
    <TableCard
      title={usageText.models}
      caption={usageText.modelsCaption}
      rows={report?.models}
      rowKey={({ model }) => model}
      columns={columns}
      expected={3}
    />
  );
}

const columns: readonly Column<ModelUsage>[] = [
  { title: usageText.model, kind: 'head', cell: ({ model }) => <code>{model}</code> },
  { title: usageText.created, kind: 'end', cell: ({ tasks }) => formatNumber(tasks) },
  { title: usageText.success, kind: 'end', cell: (model) => <Success ended={model} /> },
  { title: usageText.p50, kind: 'end', cell: ({ p50Ms }) => formatDuration(p50Ms) },
  { title: usageText.p95, kind: 'end', cell: ({ p95Ms }) => formatDuration(p95Ms) },
  { title: usageText.measures.credits, kind: 'end', cell: ({ credits }) => formatNumber(credits) },
];

function Success({ ended }: { readonly ended: Ended }) {
  const { succeeded, failed } = ended;
  const count = succeeded + failed;
  return (
    <>
      {formatSuccessRate(ended)}
      {count > 0 && <Meter share={succeeded / count} tone="good" rest="bad" />}
    </>
  );
}
