import type { ProviderTest } from '../../api/contract.ts';
import { failureOf } from '../../api/api-problem-and-words.ts';
import { useSend } from '../../api/read-and-send-hooks.ts';
import { StateWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Dialog, DialogButton } from '../../ui/forms/dialog.tsx';
import { ErrorBox } from '../../ui/feedback/notice-and-error-box.tsx';
import { Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { formatDuration } from '../../ui/times-and-durations.tsx';
import { describeTestOutcome, providersText } from './providers-text.ts';

export function TestProviderConnectionButton({ provider }: { readonly provider: string }) {
  return (
    <DialogButton label={providersText.test} aria-label={providersText.testTitle(provider)} size="small">
      {(close) => <TestDialog provider={provider} onClose={close} />}
    </DialogButton>
  );
}

function TestDialog({ provider, onClose }: { readonly provider: string; readonly onClose: () => void }) {
  const test = useSend('/api/admin/v1/providers/test', { changes: [] });
  return (
    <Dialog title={providersText.testTitle(provider)} onClose={onClose}>
      <div class="body">
        <p class="soft">{providersText.testHelp}</p>
        <div role="status">{test.data !== undefined && !test.isPending && <Result test={test.data} />}</div>
        {test.error !== null && <ErrorBox failure={failureOf(test.error)} />}
      </div>
      <footer>
        <Button onClick={onClose}>{providersText.done}</Button>
        <Button variant="primary" busy={test.isPending} onClick={() => test.mutate({ provider })}>
          {test.data === undefined ? providersText.runTest : providersText.runAgain}
        </Button>
      </footer>
    </Dialog>
  );
}

function Result({ test: { outcome, status, latencyMs, detail } }: { readonly test: ProviderTest }) {
  const { word, tone, help } = describeTestOutcome(outcome);
  return (
    <div class="stack tight">
      <p>
        <StateWithDot tone={tone}>{word}</StateWithDot>
      </p>
      <p class="soft">{help}</p>
      <Facts
        facts={[
          [providersText.latency, latencyMs === null ? null : formatDuration(latencyMs)],
          [providersText.httpStatus, status],
          [providersText.detail, detail === null ? null : <bdi>{detail}</bdi>],
        ]}
      />
    </div>
  );
}
