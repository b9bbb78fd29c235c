import type { TaskTimeline } from '../../../api/contract.ts';
import { formatBytes, SignedAmount, formatNumber, nonStandardPriceName } from '../../../ui/number-formats.tsx';
import { Card, Facts } from '../../../ui/page-card-facts-and-tiles.tsx';
import { TableCard } from '../../../ui/lists/table-card.tsx';
import { ExactTime } from '../../../ui/times-and-durations.tsx';
import { ledgerKindWord } from '../../credits/credits-text.ts';
import { AccountLink } from '../../accounts/account-link.tsx';
import { tasksText } from '../tasks-text.ts';
import type { TaskView } from './use-task.ts';

export function TaskLedgerCard({ ledger }: Pick<TaskTimeline, 'ledger'>) {
  if (ledger.length === 0) return null;
  return (
    <TableCard
      title={tasksText.ledger}
      caption={tasksText.ledgerCaption}
      rows={ledger}
      rowKey={({ entryId }) => entryId}
      columns={[
        { title: tasksText.entry, kind: 'head', cell: ({ kind, entryId }) => `${ledgerKindWord(kind)} #${entryId}` },
        { title: tasksText.columns.credits, kind: 'end', cell: ({ amount }) => <SignedAmount amount={amount} /> },
        { title: tasksText.balance, kind: 'end', cell: ({ balanceAfter }) => formatNumber(balanceAfter) },
      ]}
    />
  );
}

export function TaskDetailsCard({ view }: { readonly view: TaskView }) {
  const { task, createdBy, priceName, mediaDeleteTime, operator } = view;
  const { model, createTime, completeTime } = task;
  const { video } = task.resultJson;
  return (
    <Card title={tasksText.details}>
      <Facts
        facts={[
          [tasksText.account, operator && <AccountLink accountId={operator.accountId} name={operator.accountName} />],
          [tasksText.createdBy, createdBy && <Creator of={createdBy} />],
          [tasksText.model, <code>{model}</code>],
          [tasksText.price, nonStandardPriceName(priceName)],
          [tasksText.video, video && measured(video)],
          [tasksText.file, video && `MP4, ${formatBytes(video.bytes)}`],
          [tasksText.columns.created, <ExactTime ms={createTime} />],
          [tasksText.ended, completeTime && <ExactTime ms={completeTime} />],
          [tasksText.availableUntil, mediaDeleteTime && <ExactTime ms={mediaDeleteTime} />],
        ]}
      />
    </Card>
  );
}

function Creator({ of: { kind, id, name } }: { readonly of: NonNullable<TaskTimeline['createdBy']> }) {
  return (
    <span title={id}>
      <bdi>{name ?? id}</bdi> <span class="faint">({kind === 'key' ? tasksText.apiKey : tasksText.person})</span>
    </span>
  );
}

function measured(video: NonNullable<TaskView['task']['resultJson']['video']>): string {
  const { width, height, seconds, framesPerSecond, hasAudio } = video;
  const length = `${Number(seconds.toFixed(2))}\u00A0s`;
  const rate = `${Number(framesPerSecond.toFixed(2))}\u00A0fps`;
  return `${width}\u00A0×\u00A0${height}, ${length}, ${rate}, ${hasAudio ? tasksText.sound : tasksText.silent}`;
}
