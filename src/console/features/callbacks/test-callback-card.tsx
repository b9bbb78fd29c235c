import { useSend } from '../../api/read-and-send-hooks.ts';
import { useNotAllowedReason } from '../../api/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form, useFields } from '../../ui/forms/form.tsx';
import { Send } from '../../ui/controls/icons.ts';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { callbacksText } from './callbacks-text.ts';

/** Sends one signed example to any URL, so that a receiver can be tried before it matters. */
export function TestCallbackCard() {
  const { values, field } = useFields({ url: '' });
  const test = useSend('/api/v1/callbacks/test', { changes: [] });
  const reason = useNotAllowedReason('member');
  return (
    <Card title={callbacksText.test}>
      <Form submission={test} onSubmit={() => test.mutate({ url: values.url.trim() })}>
        <TextField
          label={callbacksText.testUrl}
          type="url"
          required
          placeholder="https://example.com/callbacks"
          hint={callbacksText.testHint}
          {...field('url')}
        />
        <div class="row">
          <Button type="submit" busy={test.isPending} disabledReason={reason}>
            <Send size={16} aria-hidden="true" /> {callbacksText.sendTest}
          </Button>
        </div>
        {test.data !== undefined && <TestDeliveryOutcome status={test.data.status} />}
      </Form>
    </Card>
  );
}

/** The response of the receiver to a test. */
export function TestDeliveryOutcome({ status }: { readonly status: number | null }) {
  if (status === null) {
    return (
      <Notice tone="bad" title={callbacksText.testUnreachable} isAlert text={callbacksText.testUnreachableAdvice} />
    );
  }
  const isGood = status >= 200 && status < 300;
  return (
    <Notice tone={isGood ? 'good' : 'bad'} title={callbacksText.testStatus(status)} isAlert>
      {!isGood && <p>{status >= 300 && status < 400 ? callbacksText.redirected : callbacksText.testFailed}</p>}
    </Notice>
  );
}
