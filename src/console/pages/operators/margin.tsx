import { ChartColumn } from '../../ui/icons.ts';
import type { Margin } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { Empty } from '../../ui/empty.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { number, moneyOf } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { useShownNow } from '../../ui/shown-now.ts';
import { dayMs } from '../../ui/time.tsx';
import { PriceOf } from './references.tsx';

const periods = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
] as const;

/** What tasks have brought in and cost. What nobody knows is shown as unknown, never as nothing. */
export function MarginCard() {
  const { get, set } = useAddress();
  const days = periods.find(({ value }) => value === get('days'))?.value ?? '7';
  const toTime = useShownNow();
  const { data, error, refetch } = useRead(
    '/api/admin/v1/margin',
    { fromTime: toTime - Number(days) * dayMs, toTime },
    { keeps: true },
  );
  const period = (
    <div class="filters">
      <FilterSelect label="Period" value={days} options={periods} onValue={(value) => set({ days: value })} />
    </div>
  );
  return (
    <Card title="Cost and margin" actions={period} isFlush>
      {data === undefined && error !== null ? (
        <div class="body">
          <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : data?.rows.length === 0 ? (
        <Empty icon={ChartColumn} title="No task ended in this time">
          <p>Choose a longer period.</p>
        </Empty>
      ) : (
        <MarginTable rows={data?.rows} currency={data?.currency ?? 'USD'} creditMicros={data?.creditMicros ?? 0} />
      )}
    </Card>
  );
}

type TableProps = {
  readonly rows: readonly Margin[] | undefined;
  readonly currency: string;
  readonly creditMicros: number;
};

function MarginTable({ rows, currency, creditMicros }: TableProps) {
  const money = (micros: number) => moneyOf(micros, currency);
  return (
    <Table
      caption="Cost and margin by price and provider"
      rows={rows}
      rowKey={({ model, priceName, provider }) => `${model} ${priceName} ${provider}`}
      columns={[
        { title: 'Model', kind: 'head', cell: ({ model, priceName }) => <PriceOf model={model} name={priceName} /> },
        { title: 'Provider', cell: ({ provider }) => (provider === 'none' ? 'never begun' : <code>{provider}</code>) },
        { title: 'Tasks', kind: 'end', cell: ({ tasks }) => number(tasks) },
        { title: 'Jobs', kind: 'end', cell: ({ jobs }) => number(jobs) },
        {
          title: 'Earned',
          kind: 'end',
          cell: ({ creditsCharged, creditsRefunded }) => money((creditsCharged - creditsRefunded) * creditMicros),
        },
        { title: 'Cost', kind: 'end', cell: (row) => <Cost row={row} money={money} /> },
        {
          title: 'Margin',
          kind: 'end',
          cell: ({ marginMicros }) =>
            marginMicros === null ? (
              <span class="faint">unknown</span>
            ) : (
              <MarginFigure micros={marginMicros} money={money} />
            ),
        },
      ]}
    />
  );
}

type Money = (micros: number) => string;

function Cost({ row, money }: { readonly row: Margin; readonly money: Money }) {
  const { costMicros, unknownJobs, foreignJobs, jobs } = row;
  const open = unknownJobs + foreignJobs;
  if (open === 0) return <>{money(costMicros)}</>;
  const why = [
    unknownJobs > 0 && `${number(unknownJobs)} unknown`,
    foreignJobs > 0 && `${number(foreignJobs)} in another currency`,
  ]
    .filter(Boolean)
    .join(', ');
  return (
    <>
      {open >= jobs && costMicros === 0 ? 'unknown' : `${money(costMicros)} and more`}
      <small class="under">{why}</small>
    </>
  );
}

function MarginFigure({ micros, money }: { readonly micros: number; readonly money: Money }) {
  return <span class={micros < 0 ? 'amount minus' : 'amount'}>{money(micros)}</span>;
}
