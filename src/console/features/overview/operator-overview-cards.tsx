import { Link } from 'wouter-preact';
import type { InstallationOverview } from '../../api/contract.ts';
import { opsPaths } from '../../paths.ts';
import { StateDot } from '../../ui/controls/badge.tsx';
import { number } from '../../ui/figures.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { relativeTime, Time, useNow } from '../../ui/time.tsx';
import { failWord } from '../tasks/tasks-text.ts';
import { AccountLink } from '../accounts/account-link.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { installationText } from './overview-text.ts';
import './overview.css';

type FailuresProps = { readonly failed: InstallationOverview['lastDay']['failed'] };

/** Failures of the last day by code, the most frequent first; each leads to its tasks. */
export function FailuresCard({ failed }: FailuresProps) {
  const sorted = failed.toSorted((a, b) => b.tasks - a.tasks);
  const most = sorted[0]?.tasks ?? 1;
  return (
    <Card title={installationText.failures}>
      {sorted.length === 0 ? (
        <p class="soft">{installationText.noFailures}</p>
      ) : (
        <ul class="bars">
          {sorted.map(({ failCode, tasks }) => (
            <li key={failCode}>
              <Link href={`${opsPaths.tasks}?failCode=${failCode}&since=1d`}>{failWord(failCode).title}</Link>
              <span class="number">{number(tasks)}</span>
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
export function LedgerCard({ books: { auditedTime, violations, found } }: { readonly books: Books }) {
  const now = useNow(5000);
  const age = auditedTime === null ? '' : relativeTime(Math.min(0, auditedTime - now));
  return (
    <Card title={installationText.ledger}>
      {violations === 0 ? (
        <p class="sentence">
          <StateDot tone={auditedTime === null ? 'calm' : 'good'}>
            {auditedTime === null ? installationText.notChecked : installationText.balanced(age)}
          </StateDot>
        </p>
      ) : (
        <Notice tone="bad" title={installationText.violations(violations, age)} text={installationText.violationsText}>
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
        {taskId !== null && <TaskLink taskId={taskId} />} {installationText.found} <Time ms={foundTime} />
      </small>
    </li>
  );
}
