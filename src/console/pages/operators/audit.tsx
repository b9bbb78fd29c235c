import { ScrollText } from 'lucide-preact';
import type { OperatorAction } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { actionWord, detailsOf, reasonOf } from './audit-words.ts';
import { AccountFilter, AccountLink, TaskLink } from './references.tsx';

/** Who did what, to whom, when and why. */
export function AuditPage() {
  const { get, set } = useAddress();
  const accountId = get('account');
  const { data, error, refetch } = useRead(
    '/api/admin/v1/audit',
    { accountId, cursor: get('cursor'), limit: 50 },
    { keeps: true, everyMs: 15_000 },
  );
  return (
    <Page
      title="Audit log"
      lead="Everything that operators have changed, in the console, over the API and at the command line. Entries are never deleted, and change only where they name a person who was erased."
    >
      <div class="filters">
        <AccountFilter value={accountId ?? ''} onValue={(value) => set({ account: value })} />
        {accountId !== undefined && (
          <Button look="quiet" onClick={() => set({ account: undefined })}>
            Clear
          </Button>
        )}
      </div>
      {data === undefined && error !== null ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : data?.actions.length === 0 ? (
        <Empty icon={ScrollText} title="Nothing was changed yet">
          <p>Grants, prices, limits, suspensions and every other change stand here, with the name of who made it.</p>
        </Empty>
      ) : (
        <Table
          caption="Audit log"
          rows={data?.actions}
          rowKey={({ actionId }) => actionId}
          columns={[
            { title: 'What', kind: 'head', cell: (action) => <What action={action} /> },
            { title: 'On', cell: (action) => <On action={action} /> },
            { title: 'Why', cell: (action) => <Why action={action} /> },
            { title: 'Who', cell: ({ actor }) => <Who actor={actor} /> },
            { title: 'When', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
          ]}
        />
      )}
      <Pager nextCursor={data?.nextCursor} what="the audit log" />
    </Page>
  );
}

type RowProps = { readonly action: OperatorAction };

function What({ action }: RowProps) {
  const details = detailsOf(action);
  return (
    <>
      <span class="strong">{actionWord(action)}</span>
      {details !== '' && (
        <small class="under">
          <bdi>{details}</bdi>
        </small>
      )}
    </>
  );
}

function On({ action: { accountId, taskId } }: RowProps) {
  if (accountId === null && taskId === null) return <span class="faint">–</span>;
  return (
    <>
      {accountId !== null && <AccountLink accountId={accountId} />}
      {taskId !== null && (
        <small class="under">
          task <TaskLink taskId={taskId} />
        </small>
      )}
    </>
  );
}

function Why({ action }: RowProps) {
  const reason = reasonOf(action);
  return reason === undefined ? <span class="faint">–</span> : <bdi>{reason}</bdi>;
}

const kinds: Readonly<Record<string, string>> = { operator: 'API key', command_line: 'command line' };

/** People in the console are named alone; keys and the command line are said to be such. */
function Who({ actor: { kind, name } }: Pick<OperatorAction, 'actor'>) {
  const how = kinds[kind];
  return (
    <>
      <bdi class="who">{name}</bdi> {how !== undefined && <Badge>{how}</Badge>}
    </>
  );
}
