import type { Callback, OperatorCallback } from '../../api/contract.ts';
import { WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { CodeBlock } from '../../ui/controls/code-block.tsx';
import { CopyId } from '../../ui/controls/copy-button.tsx';
import { Card, Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { callbacksText, callbackStateWordAndTone } from './callbacks-text.ts';
import { type AttemptView, Attempts } from './delivery-columns-and-attempts.tsx';
import { ResendCallbackButton } from './resend-buttons.tsx';
import { verificationSample } from './verification-sample.ts';

/** A callback; operators see its account, network errors and responses as well, and events. */
export type CallbackView = Omit<Callback, 'attempts' | 'taskId'> &
  Partial<Pick<OperatorCallback, 'operator' | 'event'>> &
  Pick<OperatorCallback, 'taskId'> & { readonly attempts: readonly AttemptView[] };

/** The callback of a task with every attempt, and how a receiver verifies it. */
export function CallbackCard({ taskId, callback }: { readonly taskId: string; readonly callback: CallbackView }) {
  const { url, webhookId, nextAttemptTime, attempts, operator } = callback;
  const redeliveries = operator?.redeliveries ?? 0;
  return (
    <Card title={callbacksText.callback} actions={<ResendCallbackButton taskId={taskId} />} isFlush>
      <div class="body">
        <Facts
          facts={[
            [callbacksText.state, <WordWithDot of={callbackStateWordAndTone(callback.state)} />],
            [callbacksText.sentTo, <bdi>{url}</bdi>],
            [callbacksText.webhookId, <CopyId id={webhookId} label={callbacksText.copyWebhookId} />],
            [callbacksText.redeliveries, redeliveries > 0 ? redeliveries : undefined],
            [callbacksText.columns.next, nextAttemptTime && <Time ms={nextAttemptTime} />],
          ]}
        />
      </div>
      <Attempts deliveryId={taskId} attempts={attempts} />
      {operator === undefined && (
        <div class="body">
          <details>
            <summary>{callbacksText.verifyOne}</summary>
            <div class="body">
              <CodeBlock samples={[{ title: 'Node.js', text: verificationSample(webhookId) }]} />
            </div>
          </details>
        </div>
      )}
    </Card>
  );
}
