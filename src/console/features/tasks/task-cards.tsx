import type { TaskDetail } from '../../api/contract.ts';
import { bytes, Change, credits, number, priceNameOf } from '../../ui/money.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, ExactTime } from '../../ui/time.tsx';
import { ledgerWord } from '../../words.ts';
import { shortId } from '../../ui/copy.tsx';
import { AccountLink } from './references.tsx';

export function TaskFacts({ detail }: { readonly detail: TaskDetail }) {
  const { accountId, task, priceName, result, mediaDeleteTime, createdBy } = detail;
  return (
    <Card title="Facts">
      <Facts
        facts={[
          ['Account', <AccountLink accountId={accountId} />],
          ['Created by', createdBy === null ? undefined : <Maker createdBy={createdBy} />],
          ['Model', <code>{task.model}</code>],
          ['Credits', credits(task.creditsCharged - task.creditsRefunded)],
          ['Price', priceNameOf(priceName)],
          ['Measured', result === null ? undefined : measured(result)],
          ['Generated in', task.costTime === null ? undefined : duration(task.costTime)],
          ['Created', <ExactTime ms={task.createTime} />],
          ['Ended', task.completeTime === null ? undefined : <ExactTime ms={task.completeTime} />],
          ['Video kept until', mediaDeleteTime === null ? undefined : <ExactTime ms={mediaDeleteTime} />],
        ]}
      />
    </Card>
  );
}

function Maker({ createdBy: { kind, id, name } }: { readonly createdBy: NonNullable<TaskDetail['createdBy']> }) {
  return (
    <span title={id}>
      <bdi>{name ?? shortId(id)}</bdi> <span class="faint">({kind === 'key' ? 'API key' : 'person'})</span>
    </span>
  );
}

function measured({ widthPx, heightPx, durationSeconds, hasAudio, bytes: size }: NonNullable<TaskDetail['result']>) {
  const length = `${Number(durationSeconds.toFixed(2))}\u00A0s`;
  return `${widthPx}\u00A0×\u00A0${heightPx}, ${length}, ${hasAudio ? 'sound' : 'silent'}, ${bytes(size)}`;
}

export function TaskLedger({ detail: { ledger } }: { readonly detail: TaskDetail }) {
  if (ledger.length === 0) return null;
  return (
    <Card title="Ledger" isFlush>
      <Table
        caption="Entries of the ledger about this task"
        rows={ledger}
        rowKey={({ entryId }) => entryId}
        columns={[
          { title: 'Entry', kind: 'head', cell: ({ kind, entryId }) => `${ledgerWord(kind)} #${entryId}` },
          { title: 'Credits', kind: 'end', cell: ({ amount }) => <Change amount={amount} /> },
          { title: 'Balance', kind: 'end', cell: ({ balanceAfter }) => number(balanceAfter) },
        ]}
      />
    </Card>
  );
}
