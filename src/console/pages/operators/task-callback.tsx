import type { TaskDetail } from '../../api/contract.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { callbackWord } from '../../words.ts';
import { RedeliverButton } from './redeliver.tsx';

type Attempt = TaskDetail['attempts'][number];

/** Every attempt to deliver the callback, with what the receiver answered, which clients are not shown. */
export function TaskCallbackCard({ detail: { callback, attempts } }: { readonly detail: TaskDetail }) {
  if (callback === null) return null;
  const { word, tone } = callbackWord(callback.state);
  return (
    <Card title="Callback" actions={<RedeliverButton taskId={callback.taskId} />} isFlush>
      <div class="body">
        <Facts
          facts={[
            ['State', <StateDot tone={tone}>{word}</StateDot>],
            ['Sent to', <bdi>{callback.url}</bdi>],
            ['Redeliveries', callback.redeliveries > 0 ? String(callback.redeliveries) : undefined],
            ['Next attempt', callback.nextAttemptTime === null ? undefined : <Time ms={callback.nextAttemptTime} />],
          ]}
        />
      </div>
      {attempts.length > 0 && (
        <Table
          caption="Attempts"
          rows={attempts}
          rowKey={({ attempt }) => attempt}
          columns={[
            { title: 'Attempt', kind: 'head', cell: ({ attempt }) => `#${attempt}` },
            { title: 'Answer', cell: (attempt) => <AttemptAnswer attempt={attempt} /> },
            { title: 'Took', kind: 'end', cell: ({ durationMs }) => duration(durationMs) },
            { title: 'When', kind: 'end', cell: ({ startTime }) => <Time ms={startTime} /> },
          ]}
        />
      )}
    </Card>
  );
}

function AttemptAnswer({ attempt: { status, error, responseHead } }: { readonly attempt: Attempt }) {
  const isGood = status !== null && status >= 200 && status < 300;
  return (
    <>
      <StateDot tone={isGood ? 'good' : 'bad'}>{status === null ? (error ?? 'No answer') : `HTTP ${status}`}</StateDot>
      {responseHead !== null && responseHead !== '' && (
        <details class="quiet">
          <summary>
            <small>What it answered</small>
          </summary>
          <pre class="answer" tabIndex={0} role="region" aria-label="What the receiver answered">
            <bdi>{responseHead}</bdi>
          </pre>
        </details>
      )}
    </>
  );
}
