import { RotateCw } from '../../ui/icons.ts';
import type { Callback } from '../../api/contract.ts';
import { useSend } from '../../api/queries.ts';
import { failureOf } from '../../api/problem.ts';
import { useRoleReason } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { StateDot } from '../../ui/badge.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time, duration } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { callbackWord } from '../../words.ts';
import { verifySample } from './verify-sample.ts';

/** What was sent to the client's own address, every attempt, and how a receiver knows it is genuine. */
export function TaskCallback({ callback }: { readonly callback: Callback }) {
  const { word, tone } = callbackWord(callback.state);
  return (
    <Card title="Callback" actions={<RedeliverButton taskId={callback.taskId} />} isFlush>
      <div class="body">
        <Facts
          facts={[
            ['State', <StateDot tone={tone}>{word}</StateDot>],
            ['Sent to', <bdi>{callback.url}</bdi>],
            [
              'webhook-id',
              <span class="id">
                <code>{callback.webhookId}</code>
                <CopyButton text={callback.webhookId} label="Copy the webhook-id" />
              </span>,
            ],
            ['Next attempt', callback.nextAttemptTime === null ? undefined : <Time ms={callback.nextAttemptTime} />],
          ]}
        />
      </div>
      {callback.attempts.length > 0 && (
        <Table
          caption="Attempts"
          rows={callback.attempts}
          rowKey={({ attempt }) => attempt}
          columns={[
            { title: 'Attempt', kind: 'head', cell: ({ attempt }) => `#${attempt}` },
            { title: 'Answer', cell: ({ status }) => <AttemptAnswer status={status} /> },
            {
              title: 'Took',
              kind: 'end',
              cell: ({ durationMs }) => (durationMs === null ? '–' : duration(durationMs)),
            },
            { title: 'When', kind: 'end', cell: ({ startTime }) => <Time ms={startTime} /> },
          ]}
        />
      )}
      <div class="body">
        <details class="quiet">
          <summary>Verify it in your receiver</summary>
          <div class="body">
            <CodeBlock samples={[{ title: 'Node.js', text: verifySample(callback.webhookId) }]} />
          </div>
        </details>
      </div>
    </Card>
  );
}

export function AttemptAnswer({ status }: { readonly status: number | null }) {
  if (status === null) return <StateDot tone="bad">Unreachable</StateDot>;
  return <StateDot tone={status >= 200 && status < 300 ? 'good' : 'bad'}>{`HTTP ${status}`}</StateDot>;
}

export function RedeliverButton({ taskId }: { readonly taskId: string }) {
  const reason = useRoleReason('member');
  const redeliver = useSend('/api/v1/callbacks/redeliver', { onDone: () => toast('The callback is sent again now') });
  return (
    <Button
      size="small"
      busy={redeliver.isPending}
      disabledReason={reason}
      onClick={() => redeliver.mutate({ taskId }, { onError: (error) => toast(failureOf(error).sentence, 'bad') })}
    >
      <RotateCw size={14} aria-hidden="true" /> Send again
    </Button>
  );
}
