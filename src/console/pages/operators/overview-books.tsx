import type { InstallationOverview } from '../../api/contract.ts';
import { StateDot } from '../../ui/badge.tsx';
import { number } from '../../ui/money.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { Time, useNow } from '../../ui/time.tsx';
import { AccountLink, TaskLink } from './references.tsx';
import { wholeSeconds } from './figures.ts';

type Books = InstallationOverview['books'];

/** The service adds up every ledger again and again; this is when it last did, and whether the sums agree. */
export function BooksCard({ books: { auditedTime, violations, found } }: { readonly books: Books }) {
  const now = useNow(1000);
  const when = auditedTime === null ? 'not checked yet' : `checked ${wholeSeconds(now - auditedTime)} ago`;
  return (
    <Card title="Books">
      {violations === 0 ? (
        <p class="sentence">
          <StateDot tone={auditedTime === null ? 'calm' : 'good'}>
            {auditedTime === null ? `The books were ${when}` : `Every balance equals its ledger, ${when}`}
          </StateDot>
        </p>
      ) : (
        <Notice tone="bad" title={`${number(violations)} ${violations === 1 ? 'violation' : 'violations'}, ${when}`}>
          <p>Do not change credits by hand before the cause is known.</p>
          <ul class="stack tight">
            {found.map((violation) => (
              <Violation key={`${violation.rule} ${violation.entryId} ${violation.taskId}`} violation={violation} />
            ))}
          </ul>
        </Notice>
      )}
    </Card>
  );
}

function Violation({ violation }: { readonly violation: Books['found'][number] }) {
  const { rule, accountId, taskId, detail, foundTime } = violation;
  return (
    <li>
      <code>{rule}</code> <bdi>{detail}</bdi>
      <small class="under">
        {accountId !== null && <AccountLink accountId={accountId} />} {taskId !== null && <TaskLink taskId={taskId} />}{' '}
        found <Time ms={foundTime} />
      </small>
    </li>
  );
}
