import { Send } from './icons.ts';
import { useState } from 'preact/hooks';
import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { useRoleReason } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';

/** One signed example to any address, so that a receiver can be tried before it matters. */
export function CallbackTest() {
  const [url, setUrl] = useState('');
  const reason = useRoleReason('member');
  const test = useSend('/api/v1/callbacks/test', { changes: [] });
  const fault = test.error?.faults['url'];
  return (
    <Card title="Send a test">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!test.isPending && reason === undefined) test.mutate({ url: url.trim() });
        }}
      >
        <TextField
          label="URL of your receiver"
          type="url"
          placeholder="https://example.com/videogen"
          value={url}
          onValue={setUrl}
          fault={fault}
          hint="It gets one signed example of a record. Nothing is charged."
        />
        <div class="row">
          <Button type="submit" busy={test.isPending} disabledReason={reason}>
            <Send size={16} aria-hidden="true" /> Send the test
          </Button>
        </div>
        {test.error !== null && fault === undefined && <ErrorBox failure={failureOf(test.error)} />}
        {test.data !== undefined && <Outcome status={test.data.status} />}
      </form>
    </Card>
  );
}

function Outcome({ status }: { readonly status: number | null }) {
  if (status === null) {
    return (
      <Notice tone="bad" title="The receiver could not be reached" isAlert>
        <p>Check the address, and that it is open to the internet.</p>
      </Notice>
    );
  }
  const isGood = status >= 200 && status < 300;
  return (
    <Notice tone={isGood ? 'good' : 'bad'} title={`The receiver answered HTTP ${status}`} isAlert>
      {!isGood && <p>Only an answer of 2xx counts as delivered.</p>}
    </Notice>
  );
}
