import { Link } from 'wouter-preact';
import type { AdminOverview } from '../../api/planned-ops.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Facts, Page, Tiles } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { duration } from '../../ui/time.tsx';
import { BooksCard } from './overview-books.tsx';
import { FailuresCard } from './overview-failures.tsx';
import { ProvidersCard } from './overview-providers.tsx';

const everyMs = 5000;

/** How the service is right now; read again every five seconds while somebody looks. */
export function OverviewPage() {
  const { data, error, refetch } = useRead('/api/admin/v1/overview', {}, { everyMs });
  return (
    <Page title="Overview" lead="The whole service, as it is now. Renewed every five seconds.">
      {error !== null && data === undefined && <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <>
          <Skeleton height="86px" />
          <Skeleton height="220px" />
        </>
      )}
      {data !== undefined && <Figures overview={data} />}
      <ProvidersCard everyMs={everyMs} />
    </Page>
  );
}

function Figures({ overview }: { readonly overview: AdminOverview }) {
  const { tasksByState, oldestWaits, lastDay, callbacks, books } = overview;
  const oldest = Math.max(0, ...oldestWaits.map(({ oldestWaitMs }) => oldestWaitMs));
  const failed = lastDay.failed.reduce((sum, { tasks }) => sum + tasks, 0);
  return (
    <>
      <Tiles
        tiles={[
          {
            label: 'Waiting',
            value: number(tasksByState.waiting),
            note: oldest === 0 ? 'none waits long' : `the oldest ${duration(oldest)}`,
          },
          { label: 'In queue', value: number(tasksByState.queuing), note: 'handed to a provider' },
          { label: 'Generating', value: number(tasksByState.generating), note: 'right now' },
          {
            label: 'Owed callbacks',
            value: number(callbacks.owed),
            note: <Link href={opsPaths.callbacks}>{number(callbacks.failed)} failed</Link>,
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
    </>
  );
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** Of the tasks that ended. */
function shareOf(part: number, whole: number): string {
  return whole === 0 ? '' : ` (${percent.format(part / whole)})`;
}
