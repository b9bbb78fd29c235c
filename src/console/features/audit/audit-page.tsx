import type { OperatorAction } from '../../api/contract.ts';
import { Badge } from '../../ui/controls/badge-and-state-dot.tsx';
import { ScrollText } from '../../ui/controls/icons.ts';
import { ListPage } from '../../ui/lists/list.tsx';
import { ExactTime } from '../../ui/times-and-durations.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { accountFilter } from '../accounts/account-search-and-filter.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { auditDetailWords, reasonOf } from './audit-details.ts';
import { actionWord, nonConsoleActorWords, auditText } from './audit-text.ts';
import './audit.css';

const filters = [accountFilter];

export function AuditPage() {
  return (
    <ListPage
      lead={auditText.lead}
      noun={auditText.noun}
      caption={auditText.caption}
      path="/api/admin/v1/audit"
      query={{ limit: 50 }}
      filters={filters}
      everyMs={15_000}
      rows={({ actions }) => actions}
      rowKey={({ actionId }) => actionId}
      empty={{ icon: ScrollText, title: auditText.empty, text: auditText.emptyAdvice }}
      columns={[
        { title: auditText.action, kind: 'head', cell: (action) => <Action action={action} /> },
        { title: auditText.target, cell: (action) => <Target action={action} /> },
        { title: auditText.reason, isWide: true, cell: (action) => <Reason action={action} /> },
        { title: auditText.actor, cell: ({ actor }) => <Actor actor={actor} /> },
        { title: auditText.time, kind: 'end', cell: ({ createTime }) => <ExactTime ms={createTime} /> },
      ]}
    />
  );
}

type RowProps = { readonly action: OperatorAction };

function Action({ action }: RowProps) {
  const details = auditDetailWords(action);
  return (
    <>
      <span class="strong">{actionWord(action.action)}</span>
      {details !== '' && (
        <small class="under">
          <bdi>{details}</bdi>
        </small>
      )}
    </>
  );
}

function Target({ action: { accountId, accountName, taskId } }: RowProps) {
  if (accountId === null && taskId === null) return <span class="faint">–</span>;
  return (
    <>
      {accountId !== null && <AccountLink accountId={accountId} name={accountName} />}
      {taskId !== null && (
        <small class="under">
          {auditText.task} <TaskLink taskId={taskId} />
        </small>
      )}
    </>
  );
}

function Reason({ action }: RowProps) {
  const reason = reasonOf(action);
  return <div class="audit-reason">{reason === undefined ? <span class="faint">–</span> : <bdi>{reason}</bdi>}</div>;
}

/** People in the console are shown by name alone. */
function Actor({ actor: { kind, name } }: Pick<OperatorAction, 'actor'>) {
  const how = nonConsoleActorWords[kind];
  return (
    <>
      <bdi class="who">{name}</bdi> {how !== undefined && <Badge>{how}</Badge>}
    </>
  );
}
