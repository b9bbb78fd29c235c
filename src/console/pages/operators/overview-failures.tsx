import { Link } from 'wouter-preact';
import type { AdminOverview } from '../../api/planned-ops.ts';
import { opsPaths } from '../../paths.ts';
import { number } from '../../ui/money.tsx';
import { Card } from '../../ui/page.tsx';
import { failWords } from '../../words.ts';

type Failed = AdminOverview['lastDay']['failed'];

/** Failures of the last day by code, the commonest first, each with a bar in proportion. */
export function FailuresCard({ failed }: { readonly failed: Failed }) {
  const sorted = failed.toSorted((a, b) => b.tasks - a.tasks);
  const most = sorted[0]?.tasks ?? 1;
  return (
    <Card title="Failures in 24 hours">
      {sorted.length === 0 ? (
        <p class="soft">None. Every task that ended was delivered.</p>
      ) : (
        <ul class="bars">
          {sorted.map(({ failCode, tasks }) => (
            <li key={failCode}>
              <Link href={`${opsPaths.tasks}?state=fail&hours=24`}>{titleOf(failCode)}</Link>
              <span class="number">{number(tasks)}</span>
              <span class="bar" style={{ width: `${(100 * tasks) / most}%` }} aria-hidden="true" />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** A code that is newer than this page is shown as it is. */
function titleOf(failCode: string): string {
  const known = Object.entries(failWords).find(([code]) => code === failCode);
  return known?.[1].title ?? failCode;
}
