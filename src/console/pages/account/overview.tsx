import { ArrowRight } from './icons.ts';
import { Check, Plus } from '../../ui/icons.ts';
import { Link } from 'wouter-preact';
import type { Answer } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { useAccount } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { LinkButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page, Tiles } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { dayMs, relativeTime, useNow } from '../../ui/time.tsx';
import { DayChart } from './day-chart.tsx';
import { useFirstRequest } from '../../features/playground/request-samples.ts';
import { TaskTable } from '../../features/tasks/task-table.tsx';
import type { TaskRow } from '../../features/tasks/use-task.ts';

type Overview = Answer<'/api/v1/overview'>;

export function OverviewPage() {
  const { accountId, name } = useAccount();
  const now = useNow(60_000);
  const { data, error, refetch } = useRead('/api/v1/overview', {}, { everyMs: 5000 });
  const recent = useRead('/api/v1/jobs/listTasks', { limit: 5 }, { everyMs: 5000 });
  const isNew = data !== undefined && !(data.steps.hasKey && data.steps.hasTask);
  return (
    <Page
      title="Overview"
      lead={`The last seven days of ${name}, in UTC.`}
      actions={
        <LinkButton href={paths.playground(accountId)} look="primary">
          <Plus size={16} aria-hidden="true" /> New video
        </LinkButton>
      }
    >
      {error !== null && data === undefined && <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />}
      {isNew && <FirstSteps steps={data.steps} />}
      {/* Another element once the figures are there: what stands above them may be new, and nothing shall be seen to move. */}
      {data !== undefined ? <Figures key="figures" data={data} /> : error === null && <Figures data={data} />}
      {data !== undefined && data.days.some(({ charged }) => charged > 0) && (
        <Card title="Credits charged by day and model" isFlush>
          <DayChart days={data.days} from={now - 6 * dayMs} to={now} />
        </Card>
      )}
      {/* When the tasks cannot be read, the page says what is wrong, above. */}
      {data !== undefined && (recent.data !== undefined || recent.error === null) && (
        <Recent tasks={data.steps.hasTask ? recent.data?.tasks : []} />
      )}
      {data !== undefined && <Books books={data.books} />}
    </Page>
  );
}

function FirstSteps({ steps }: { readonly steps: Overview['steps'] }) {
  const { accountId } = useAccount();
  const list = [
    {
      title: 'Try it here',
      text: 'Describe a video in the playground and watch it being made.',
      isDone: steps.hasTask,
      href: paths.playground(accountId),
      action: 'Open the playground',
    },
    {
      title: 'Make an API key',
      text: 'Programs authenticate with it. It is shown once.',
      isDone: steps.hasKey,
      href: paths.keys(accountId),
      action: 'Make a key',
    },
    {
      title: 'Let us call you back',
      text: 'Give a callBackUrl with a request, and learn of its end without asking.',
      isDone: steps.hasCallback,
      href: paths.callbacks(accountId),
      action: 'See callbacks',
    },
  ];
  return (
    <Card title="First steps" isFlush>
      <ol class="steps">
        {list.map(({ title, text, isDone, href, action }, index) => (
          <li key={title}>
            <span class={isDone ? 'mark done' : 'mark'}>
              {isDone ? <Check size={14} aria-label="Done" /> : index + 1}
            </span>
            <h3>{title}</h3>
            <p>{text}</p>
            <p class="go">
              <Link href={href}>{action}</Link>
            </p>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Figures({ data }: { readonly data: Overview | undefined }) {
  const { accountId } = useAccount();
  const total = (pick: (day: Overview['days'][number]) => number) =>
    data === undefined ? (
      <Skeleton width="60%" height="26px" />
    ) : (
      number(data.days.reduce((sum, day) => sum + pick(day), 0))
    );
  const live =
    data &&
    (data.tasksByState['waiting'] ?? 0) + (data.tasksByState['queuing'] ?? 0) + (data.tasksByState['generating'] ?? 0);
  return (
    <Tiles
      tiles={[
        {
          label: 'Balance',
          value: data === undefined ? <Skeleton width="60%" height="26px" /> : number(data.balance),
          note: <Link href={paths.credits(accountId)}>See the ledger</Link>,
        },
        { label: 'Videos requested', value: total(({ tasks }) => tasks), note: 'in seven days' },
        { label: 'Charged', value: total(({ charged }) => charged), note: 'credits in seven days' },
        { label: 'Refunded', value: total(({ refunded }) => refunded), note: 'for tasks that failed' },
        {
          label: 'In progress',
          value: live === undefined ? <Skeleton width="40%" height="26px" /> : number(live),
          note: <Link href={paths.tasks(accountId)}>See the tasks</Link>,
        },
      ]}
    />
  );
}

/** The newest tasks; undefined while they are read. */
function Recent({ tasks }: { readonly tasks: readonly TaskRow[] | undefined }) {
  const { accountId } = useAccount();
  const all = (
    <Link href={paths.tasks(accountId)} class="row">
      All tasks <ArrowRight size={14} aria-hidden="true" />
    </Link>
  );
  if (tasks?.length === 0) return <FromTerminal />;
  return (
    <Card title="Newest tasks" actions={all} isFlush>
      <TaskTable tasks={tasks} />
    </Card>
  );
}

function FromTerminal() {
  const first = useFirstRequest();
  return (
    <Card title="Or begin from your terminal">
      <div class="stack">
        <p class="lead">With a key in VIDEOGEN_API_KEY, this makes the first video:</p>
        <CodeBlock wraps samples={[first]} />
      </div>
    </Card>
  );
}

/** Every account may see that its books are checked. */
function Books({ books: { auditedTime, violations } }: { readonly books: Overview['books'] }) {
  const now = useNow(5000);
  if (auditedTime === null) return null;
  return (
    <p class="faint">
      <small>
        Books checked {relativeTime(auditedTime - now)}:{' '}
        {violations === 0
          ? 'every charge, refund and balance agrees.'
          : `${number(violations)} entries are being looked into by the operators.`}
      </small>
    </p>
  );
}
