import { Coins } from '../../ui/icons.ts';
import { Download } from './icons.ts';
import { Link } from 'wouter-preact';
import type { LedgerEntry } from '../../api/contract.ts';
import { searchOf } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { useAccount } from '../../api/session.ts';
import { download } from '../../api/download.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { shortId } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { Change, number, PriceName } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page, Tiles } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { dayMs, Time, useNow } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { ledgerWord, ledgerWords } from '../../words.ts';
import { DayChart } from './day-chart.tsx';

const kinds = ['charge', 'refund', 'grant', 'adjustment'] as const;

const spans = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
] as const;

type Span = (typeof spans)[number]['value'];

export function CreditsPage() {
  const { get, set } = useAddress();
  const span = spans.find(({ value }) => value === get('days'))?.value ?? '30';
  const use = useDays(span);
  const isFailed = use.error !== null && use.data === undefined;
  return (
    <Page
      title="Credits"
      lead="Every grant, charge and refund, with the balance after it."
      actions={
        <FilterSelect
          label="Days"
          value={span}
          options={spans}
          onValue={(value) => set({ days: value === '30' ? undefined : value })}
        />
      }
    >
      {isFailed ? (
        <ErrorBox failure={failureOf(use.error)} onRetry={() => void use.refetch()} />
      ) : (
        <Use span={span} use={use} />
      )}
      {/* Only now it is known whether there is a chart above the ledger, which is not to be seen moving. */}
      {(use.data !== undefined || isFailed) && <Ledger span={span} isFailureSaid={isFailed} />}
    </Page>
  );
}

/** The use of each of the last days. */
function useDays(span: Span) {
  const to = Math.floor(useNow(60_000) / dayMs) * dayMs;
  const from = to - (Number(span) - 1) * dayMs;
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const options = { keeps: true, everyMs: 15_000 };
  const query = useRead('/api/v1/credits/daily', { from: day(from), to: day(to) }, options);
  return { ...query, from, to };
}

type UseProps = { readonly span: Span; readonly use: ReturnType<typeof useDays> };

/** The sums and the chart of the days. */
function Use({ span, use: { data, from, to } }: UseProps) {
  const { data: account } = useRead('/api/v1/credits', { limit: 1 }, { everyMs: 15_000 });
  const total = (pick: (one: { charged: number; refunded: number; granted: number }) => number) =>
    data === undefined ? (
      <Skeleton width="60%" height="26px" />
    ) : (
      number(data.days.reduce((sum, one) => sum + pick(one), 0))
    );
  return (
    <>
      <Tiles
        tiles={[
          {
            label: 'Balance',
            value: account === undefined ? <Skeleton width="60%" height="26px" /> : number(account.balance),
            note: 'credits',
          },
          { label: 'Charged', value: total(({ charged }) => charged), note: `in ${span} days` },
          { label: 'Refunded', value: total(({ refunded }) => refunded), note: 'for tasks that failed' },
          { label: 'Granted', value: total(({ granted }) => granted), note: 'by operators' },
        ]}
      />
      {data !== undefined && data.days.some(({ charged }) => charged > 0) && (
        <Card title="Charged by day and model" isFlush>
          <DayChart days={data.days} from={from} to={to} />
        </Card>
      )}
    </>
  );
}

type LedgerProps = {
  readonly span: Span;
  /** The page says already what is wrong. */
  readonly isFailureSaid: boolean;
};

function Ledger({ span, isFailureSaid }: LedgerProps) {
  const { accountId } = useAccount();
  const { get, set } = useAddress();
  const kind = kinds.find((one) => one === get('kind'));
  const [taskId, cursor] = [get('taskId'), get('cursor')];
  const from = Math.floor(useNow(60_000) / dayMs) * dayMs - (Number(span) - 1) * dayMs;
  const filters = {
    from,
    ...(kind !== undefined && { kind }),
    ...(taskId !== undefined && { taskId }),
  };
  const query = { ...filters, limit: 50, ...(cursor !== undefined && { cursor }) };
  const { data, error, refetch } = useRead('/api/v1/credits', query, { keeps: true, everyMs: 15_000 });
  const save = () =>
    void download(`/api/v1/credits/export${searchOf(filters)}`, accountId, 'ledger.csv').catch((cause: unknown) =>
      toast(failureOf(cause).sentence, 'bad'),
    );
  if (isFailureSaid && error !== null && data === undefined) return null;
  return (
    <Card
      title="Ledger"
      isFlush
      actions={
        <>
          <FilterSelect
            label="Kind of entry"
            value={kind ?? ''}
            options={[
              { value: '', label: 'All kinds' },
              ...kinds.map((value) => ({ value, label: `${ledgerWords[value]}s` })),
            ]}
            onValue={(value) => set({ kind: value })}
          />
          <Button onClick={save}>
            <Download size={16} aria-hidden="true" /> CSV
          </Button>
        </>
      }
    >
      {taskId !== undefined && (
        <p class="body row">
          Of the task <code>{shortId(taskId)}</code>
          <Button size="small" onClick={() => set({ taskId: undefined })}>
            Show all
          </Button>
        </p>
      )}
      {error !== null && data === undefined ? (
        <div class="body">
          <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : data?.entries.length === 0 ? (
        <Empty icon={Coins} title="No entries">
          <p>{kind === undefined ? 'Nothing was booked in these days.' : 'No entry of this kind in these days.'}</p>
        </Empty>
      ) : (
        <LedgerTable entries={data?.entries} />
      )}
      <div class="pager-box">
        <Pager nextCursor={data?.nextCursor} what="the ledger" />
      </div>
    </Card>
  );
}

function LedgerTable({ entries }: { readonly entries: readonly LedgerEntry[] | undefined }) {
  const { accountId } = useAccount();
  return (
    <Table
      caption="Entries of the ledger, newest first"
      rows={entries}
      rowKey={({ entryId }) => entryId}
      columns={[
        { title: 'Entry', kind: 'head', cell: ({ kind }) => <strong class="entry">{ledgerWord(kind)}</strong> },
        { title: 'Number', isMinor: true, cell: ({ entryId }) => <span class="faint number">#{entryId}</span> },
        {
          title: 'For',
          cell: ({ taskId, reason, priceName }) =>
            taskId === null ? (
              <span dir="auto">{reason ?? '–'}</span>
            ) : (
              <>
                <Link href={paths.task(accountId, taskId)}>
                  Task <code>{shortId(taskId)}</code>
                </Link>
                <PriceName name={priceName} />
              </>
            ),
        },
        { title: 'Credits', kind: 'end', cell: ({ amount }) => <Change amount={amount} /> },
        { title: 'Balance', kind: 'end', cell: ({ balanceAfter }) => number(balanceAfter) },
        { title: 'When', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
      ]}
    />
  );
}
