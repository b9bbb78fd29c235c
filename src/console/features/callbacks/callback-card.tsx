import type { Callback, OperatorCallback } from '../../api/contract.ts';
import { StateDot } from '../../ui/badge.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { AttemptExchange } from './attempt-exchange.tsx';
import { callbacksText, callbackWord } from './callbacks-text.ts';
import { ResendButton } from './resend.tsx';
import { verifySample } from './verify-sample.ts';
import './callbacks.css';

type AttemptView = Callback['attempts'][number] & Partial<Pick<OperatorCallback['attempts'][number], 'operator'>>;

/** A callback; operators see its account, network errors and responses as well, and events. */
export type CallbackView = Omit<Callback, 'attempts' | 'taskId'> &
  Partial<Pick<OperatorCallback, 'operator' | 'event'>> &
  Pick<OperatorCallback, 'taskId'> & { readonly attempts: readonly AttemptView[] };

/** The callback of a task with every attempt, and how a receiver verifies it. */
export function CallbackCard({ taskId, callback }: { readonly taskId: string; readonly callback: CallbackView }) {
  const { url, webhookId, nextAttemptTime, attempts, operator } = callback;
  const redeliveries = operator?.redeliveries ?? 0;
  return (
    <Card title={callbacksText.callback} actions={<ResendButton taskId={taskId} />} isFlush>
      <div class="body">
        <Facts
          facts={[
            [callbacksText.state, <CallbackState state={callback.state} />],
            [callbacksText.sentTo, <bdi>{url}</bdi>],
            [
              callbacksText.webhookId,
              <span class="id">
                <code>{webhookId}</code>
                <CopyButton text={webhookId} label={callbacksText.copyWebhookId} />
              </span>,
            ],
            [callbacksText.redeliveries, redeliveries > 0 ? redeliveries : undefined],
            [callbacksText.columns.next, nextAttemptTime && <Time ms={nextAttemptTime} />],
          ]}
        />
      </div>
      {attempts.length > 0 && (
        <Table
          caption={callbacksText.attempts}
          rows={attempts}
          rowKey={({ attempt }) => attempt}
          columns={[
            { title: callbacksText.attempt, kind: 'head', cell: ({ attempt }) => `#${attempt}` },
            {
              title: callbacksText.response,
              isWide: true,
              cell: (attempt) => <Response taskId={taskId} attempt={attempt} />,
            },
            {
              title: callbacksText.duration,
              kind: 'end',
              cell: ({ durationMs }) => (durationMs === null ? '–' : duration(durationMs)),
            },
            { title: callbacksText.time, kind: 'end', cell: ({ startTime }) => <Time ms={startTime} /> },
          ]}
        />
      )}
      {operator === undefined && (
        <div class="body">
          <details class="quiet">
            <summary>{callbacksText.verifyOne}</summary>
            <div class="body">
              <CodeBlock samples={[{ title: 'Node.js', text: verifySample(webhookId) }]} />
            </div>
          </details>
        </div>
      )}
    </Card>
  );
}

export function CallbackState({ state }: { readonly state: string }) {
  const { word, tone } = callbackWord(state);
  return <StateDot tone={tone}>{word}</StateDot>;
}

export function ResponseStatus({ attempt: { status, operator } }: { readonly attempt: AttemptView }) {
  const isGood = status !== null && status >= 200 && status < 300;
  return (
    <StateDot tone={isGood ? 'good' : 'bad'}>
      {status === null ? (operator?.networkError ?? callbacksText.unreachable) : callbacksText.http(status)}
    </StateDot>
  );
}

function Response({ taskId, attempt }: { readonly taskId: string; readonly attempt: AttemptView }) {
  return (
    <>
      <ResponseStatus attempt={attempt} />
      <AttemptExchange deliveryId={taskId} attempt={attempt.attempt} />
    </>
  );
}
