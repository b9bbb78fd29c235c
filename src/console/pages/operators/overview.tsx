import { Link } from 'wouter-preact';
import type { InstallationOverview } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { number } from '../../ui/money.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card, Facts, Page, Tiles } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { BooksCard } from './overview-books.tsx';
import { FailuresCard } from './overview-failures.tsx';
import { ProvidersCard } from './overview-providers.tsx';
import { wholeSeconds } from './figures.ts';

/** How the service is right now; read again every five seconds while somebody looks. */
export function OverviewPage() {
  const { data, error, refetch } = useRead('/api/admin/v1/overview', {}, { everyMs: 5000 });
  return (
    <Page title="Overview" lead="The whole service, as it is now. Renewed every five seconds.">
      {error !== null && data === undefined && <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <>
          <Skeleton height="103px" />
          <Skeleton height="257px" />
          <Skeleton height="206px" />
        </>
      )}
      {data !== undefined && <Figures overview={data} />}
    </Page>
  );
}

function Figures({ overview }: { readonly overview: InstallationOverview }) {
  const { unfinished, stuckTasks, lastDay, callbacks, books, providers } = overview;
  const failed = lastDay.failed.reduce((sum, { tasks }) => sum + tasks, 0);
  return (
    <>
      {stuckTasks > 0 && (
        <Notice tone="bad" title={`${number(stuckTasks)} ${stuckTasks === 1 ? 'task is' : 'tasks are'} stuck`} isAlert>
          <p>Their workflow code fails. They are refunded after a while; the log of the worker says why.</p>
        </Notice>
      )}
      <Tiles
        tiles={[
          { label: 'Waiting', ...stateTile(unfinished, 'waiting') },
          { label: 'In queue', ...stateTile(unfinished, 'queuing') },
          { label: 'Generating', ...stateTile(unfinished, 'generating') },
          {
            label: 'Owed callbacks',
            value: number(callbacks.pending),
            note: callbacks.overdue === 0 ? 'none overdue' : `${number(callbacks.overdue)} overdue`,
          },
          {
            label: 'Failed callbacks',
            value: number(callbacks.undelivered),
            note: <Link href={opsPaths.callbacks}>in 24 hours; see all</Link>,
          },
        ]}
      />
      <div class="columns">
        <Card title="Last 24 hours">
          <Facts
            facts={[
              ['Created', number(lastDay.created)],
              ['Succeeded', number(lastDay.succeeded)],
              ['Failed', `${number(failed)}${shareOf(failed, failed + lastDay.succeeded)}`],
              ['Canceled', number(lastDay.cancelled)],
              ['Content rejected', number(lastDay.rejected)],
              ['Charged', `${number(lastDay.charged)}\u00A0credits`],
              ['Refunded', `${number(lastDay.refunded)}\u00A0credits`],
            ]}
          />
        </Card>
        <div class="stack">
          <FailuresCard failed={lastDay.failed} />
          <BooksCard books={books} />
        </div>
      </div>
      <ProvidersCard providers={providers} />
    </>
  );
}

type Unfinished = InstallationOverview['unfinished'];

/** Of all models together. */
function stateTile(unfinished: Unfinished, state: Unfinished[number]['state']) {
  const those = unfinished.filter((one) => one.state === state);
  const oldest = Math.max(0, ...those.map(({ oldestMs }) => oldestMs));
  const value = those.reduce((sum, { tasks }) => sum + tasks, 0);
  const href = `${opsPaths.tasks}?state=${state}`;
  return {
    value: number(value),
    note: value === 0 ? 'none' : <Link href={href}>the oldest {wholeSeconds(oldest)}</Link>,
  };
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** Of the tasks that ended. */
function shareOf(part: number, whole: number): string {
  return whole === 0 ? '' : ` (${percent.format(part / whole)})`;
}
