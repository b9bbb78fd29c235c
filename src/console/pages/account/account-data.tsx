import { Download } from '../../ui/action-icons.ts';
import { useState } from 'preact/hooks';
import { failureOf } from '../../api/problem.ts';
import { useAccount } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorBox, type Failure } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { download } from '../../api/download.ts';

/** For owners: everything that is kept of the account, as one file. */
export function AccountData() {
  const { accountId, name, role } = useAccount();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  if (role !== 'owner') return null;
  const save = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      await download('/api/console/v1/account/export', accountId, 'account.jsonl');
      toast('The file is saved');
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={`Data of ${name}`}>
      <div class="stack">
        <p>
          One file with everything that is kept of the account: tasks with links to their videos, ledger, callbacks,
          keys without their secrets, members, invitations and security events. Each line is one JSON object; the last
          one counts the others.
        </p>
        {failure !== undefined && <ErrorBox failure={failure} />}
        <div class="row">
          <Button busy={isBusy} onClick={() => void save()}>
            <Download size={16} aria-hidden="true" /> Export the data
          </Button>
        </div>
      </div>
    </Card>
  );
}
