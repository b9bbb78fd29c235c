import { Link } from 'wouter-preact';
import type { InstallationOverview } from '../../api/contract.ts';
import { opsPaths } from '../../paths.ts';
import { number } from '../../ui/money.tsx';
import { Card } from '../../ui/page.tsx';
import { failWord } from '../../features/tasks/tasks-text.ts';

type Failed = InstallationOverview['lastDay']['failed'];

/** Failures of the last day by code, the commonest first, each with a bar in proportion; each leads to its tasks. */
export function FailuresCard({ failed }: { readonly failed: Failed }) {
  const sorted = failed.toSorted((a, b) => b.tasks - a.tasks);
  const most = sorted[0]?.tasks ?? 1;
  return (
    <Card title="Failures in 24 hours">
      {sorted.length === 0 ? (
        <p class="soft">None.</p>
      ) : (
        <ul class="bars">
          {sorted.map(({ failCode, tasks }) => (
            <li key={failCode}>
              <Link href={`${opsPaths.tasks}?failCode=${failCode}&hours=24`}>{failWord(failCode).title}</Link>
              <span class="number">{number(tasks)}</span>
              <span class="bar" style={{ width: `${(100 * tasks) / most}%` }} aria-hidden="true" />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
