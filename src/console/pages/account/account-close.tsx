import { useState } from 'preact/hooks';
import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { useAccount } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { ClosingWords, useTypedName } from '../../ui/closing.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';

/** For owners: the end of the account. */
export function AccountClosing() {
  const { name, role } = useAccount();
  const [isAsked, setAsked] = useState(false);
  if (role !== 'owner') return null;
  return (
    <Card title={`Close ${name}`}>
      <div class="stack">
        <p>For good, for all of its members. Export the data first if you need it.</p>
        <div class="row">
          <Button look="danger" onClick={() => setAsked(true)}>
            Close the account
          </Button>
        </div>
      </div>
      {isAsked && <CloseDialog onClose={() => setAsked(false)} />}
    </Card>
  );
}

function CloseDialog({ onClose }: { readonly onClose: () => void }) {
  const { accountId, name } = useAccount();
  const { missing, field } = useTypedName(name);
  // Nothing of the account can be read any more, so the console begins anew.
  const close = useSend('/api/console/v1/account/close', { changes: [], onDone: () => location.assign('/console') });
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="danger" type="submit" busy={close.isPending} disabledReason={missing}>
        Close the account
      </Button>
    </>
  );
  return (
    <Dialog
      title={`Close ${name} for good?`}
      onClose={onClose}
      footer={footer}
      onSubmit={() => {
        if (missing === undefined && !close.isPending) close.mutate({ accountId });
      }}
    >
      <div class="stack">
        {close.error !== null && <ErrorBox failure={failureOf(close.error)} />}
        <ClosingWords />
        {field}
      </div>
    </Dialog>
  );
}
