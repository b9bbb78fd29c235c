import { Link } from 'wouter-preact';
import type { Overview } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { TaskTable } from '../tasks/list/task-columns-and-table.tsx';
import { useFirstRequestSample } from '../playground/request-samples.ts';
import { accountPaths } from '../../paths.ts';
import { LinkButton } from '../../ui/controls/button.tsx';
import { CodeBlock } from '../../ui/controls/code-block.tsx';
import { ArrowRight, Plus } from '../../ui/controls/icons.ts';
import { ReadErrorBox } from '../../ui/feedback/loaded-or-read-error.tsx';
import { Card, Page, Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { dayMs, relativeTime, useNow } from '../../ui/times-and-durations.tsx';
import { figureOrSkeleton } from '../credits/credits-page.tsx';
import { ChargedByDayChart } from '../credits/day-chart.tsx';
import { useBalance } from '../credits/use-balance.ts';
import { FirstSteps } from './first-steps.tsx';
import { accountOverviewText } from './overview-text.ts';

const stateMs = 5000;
/** The sums add up many entries, so they are read seldom. */
const sumsMs = 60_000;

export function AccountOverviewPage() {
  const { accountId, name } = useAccount();
  const state = useRead('/api/v1/overview', { days: false }, { everyMs: stateMs });
  const sums = useRead('/api/v1/overview', {}, { everyMs: sumsMs });
  const { data } = state;
  const today = Math.floor(useNow(60_000) / dayMs) * dayMs;
  return (
    <Page
      lead={accountOverviewText.lead(name)}
      actions={
        <LinkButton href={accountPaths.playground(accountId)} variant="primary">
          <Plus size={16} aria-hidden="true" /> {accountOverviewText.newVideo}
        </LinkButton>
      }
    >
      <ReadErrorBox of={state} />
      {data !== undefined && <FirstSteps steps={data.steps} />}
      {(data !== undefined || state.error === null) && (
        <Figures state={data} days={sums.data?.days ?? (sums.error === null ? undefined : null)} />
      )}
      <ChargedByDayChart days={sums.data?.days ?? []} fromMs={today - 6 * dayMs} count={7} />
      <Recent hasTask={data?.steps.hasTask !== false} />
      {data !== undefined && <Books books={data.books} />}
    </Page>
  );
}

type FiguresProps = {
  readonly state: Overview | undefined;
  /** Null when they cannot be read. */
  readonly days: Overview['days'] | null | undefined;
};

function Figures({ state, days }: FiguresProps) {
  const { accountId } = useAccount();
  const balance = useBalance();
  const total = (of: 'tasks' | 'charged' | 'refunded') =>
    figureOrSkeleton(days && days.reduce((sum, day) => sum + day[of], 0));
  const tasks = state?.tasksByState;
  const live = tasks && tasks.waiting + tasks.queuing + tasks.generating;
  return (
    <Tiles
      tiles={[
        {
          label: accountOverviewText.balance,
          value: figureOrSkeleton(balance),
          note: <Link href={accountPaths.credits(accountId)}>{accountOverviewText.seeLedger}</Link>,
        },
        { label: accountOverviewText.requested, value: total('tasks'), note: accountOverviewText.sevenDays },
        { label: accountOverviewText.charged, value: total('charged'), note: accountOverviewText.creditsSevenDays },
        {
          label: accountOverviewText.refunded,
          value: total('refunded'),
          note: accountOverviewText.forTasksWithoutVideo,
        },
        {
          label: accountOverviewText.inProgress,
          value: figureOrSkeleton(live),
          note: <Link href={accountPaths.tasks(accountId)}>{accountOverviewText.seeTasks}</Link>,
        },
      ]}
    />
  );
}

/** The newest tasks, or how to create the first one. */
function Recent({ hasTask }: { readonly hasTask: boolean }) {
  const { accountId } = useAccount();
  const { data, error } = useRead('/api/v1/jobs/listTasks', { limit: 5 }, { everyMs: stateMs });
  if (!hasTask) return <FromTerminal />;
  // The page shows the same error above.
  if (data === undefined && error !== null) return null;
  const all = (
    <Link href={accountPaths.tasks(accountId)} class="row">
      {accountOverviewText.allTasks} <ArrowRight size={14} aria-hidden="true" />
    </Link>
  );
  return (
    <Card title={accountOverviewText.recent} actions={all} isFlush>
      <TaskTable tasks={data?.tasks} />
    </Card>
  );
}

function FromTerminal() {
  const first = useFirstRequestSample();
  return (
    <Card title={accountOverviewText.terminal}>
      <div class="stack">
        <p class="lead">{accountOverviewText.terminalText}</p>
        <CodeBlock wraps samples={[first]} />
      </div>
    </Card>
  );
}

/** Every member can see that the ledger is audited. */
function Books({ books: { auditedTime, violations } }: { readonly books: Overview['books'] }) {
  const now = useNow(30_000);
  if (auditedTime === null) return null;
  return (
    <p class="faint">
      <small>
        {accountOverviewText.booksChecked} {relativeTime(Math.min(0, auditedTime - now))}:{' '}
        {violations === 0 ? accountOverviewText.booksAgree : accountOverviewText.booksDiffer(violations)}
      </small>
    </p>
  );
}
