import { Link } from 'wouter-preact';
import type { InstallationOverview } from '../../api/contract.ts';
import { operatorPaths } from '../../paths.ts';
import { StateWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { relativeTime, Time, useNow } from '../../ui/times-and-durations.tsx';
import { describeFailCode } from '../tasks/tasks-text.ts';
import { AccountLink } from '../accounts/account-link.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { operatorOverviewText } from './overview-text.ts';
import './overview.css';

type FailuresProps = { readonly failed: InstallationOverview['lastDay']['failed'] };

/** Failures of the last day by code, the most frequent first; each leads to its tasks. */
export function FailuresByCodeCard({ failed }: FailuresProps) {
  const sorted = failed.toSorted((a, b) => b.tasks - a.tasks);
  const most = sorted[0]?.tasks ?? 1;
  return (
    <Card title={operatorOverviewText.failures}>
      {sorted.length === 0 ? (
        <p class="soft">{operatorOverviewText.noFailures}</p>
      ) : (
        <ul class="bars">
          {sorted.map(({ failCode, tasks }) => (
            <li key={failCode}>
              <Link href={`${operatorPaths.tasks}?failCode=${failCode}&since=1d`}>
                {describeFailCode(failCode).title}
              </Link>
              <span class="number">{formatNumber(tasks)}</span>
              <Meter share={tasks / most} tone="bad" />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

type Books = InstallationOverview['books'];

/** When the ledger was last audited, and whether it is consistent. */
export function LedgerAuditCard({ books: { auditedTime, violations, found } }: { readonly books: Books }) {
  const now = useNow(5000);
  const age = auditedTime === null ? '' : relativeTime(Math.min(0, auditedTime - now));
  return (
    <Card title={operatorOverviewText.ledger}>
      {violations === 0 ? (
        <p class="sentence">
          <StateWithDot tone={auditedTime === null ? 'calm' : 'good'}>
            {auditedTime === null ? operatorOverviewText.notChecked : operatorOverviewText.balanced(age)}
          </StateWithDot>
        </p>
      ) : (
        <Notice
          tone="bad"
          title={operatorOverviewText.violations(violations, age)}
          text={operatorOverviewText.violationsText}
        >
          <ul class="stack tight">
            {found.map((one) => (
              <Violation key={`${one.rule} ${one.entryId} ${one.taskId}`} violation={one} />
            ))}
          </ul>
        </Notice>
      )}
    </Card>
  );
}

function Violation({ violation }: { readonly violation: Books['found'][number] }) {
  const { rule, accountId, accountName, taskId, detail, foundTime } = violation;
  return (
    <li>
      <code>{rule}</code> <bdi>{detail}</bdi>
      <small class="under">
        {accountId !== null && <AccountLink accountId={accountId} name={accountName} />}{' '}
        {taskId !== null && <TaskLink taskId={taskId} />} {operatorOverviewText.found} <Time ms={foundTime} />
      </small>
    </li>
  );
}
