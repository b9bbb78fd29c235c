import type { Answer } from '../../api/call.ts';
import type { Margin } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FilterSelect } from '../../ui/forms/form-fields.tsx';
import { useChoiceInUrl } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { ChartColumn } from '../../ui/controls/icons.ts';
import { ReadErrorBox } from '../../ui/feedback/loaded-or-read-error.tsx';
import { formatMicros, formatNumber } from '../../ui/number-formats.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { Table } from '../../ui/lists/table.tsx';
import { dayMs, useNow } from '../../ui/times-and-durations.tsx';
import { ModelAndPriceName } from '../prices/price-names-and-amounts.tsx';
import { PaymentAndCreditTiles } from './payment-and-credit-tiles.tsx';
import { marginText } from './margin-text.ts';

const periods = ['1', '7', '30', '90'] as const;
const options = periods.map((value) => ({ value, label: marginText.periods[value] }));
/** The sums are of a period that ends here, so a new one is read each time it moves. */
const renewedMs = 5 * 60_000;

/** Revenue and cost of tasks. Unknown cost is shown as unknown, never as zero. */
export function MarginCard() {
  const [days, setDays] = useChoiceInUrl('days', periods, '7');
  const toTime = Math.floor(useNow(renewedMs) / 1000) * 1000;
  const query = { fromTime: toTime - Number(days) * dayMs, toTime };
  const margin = useRead('/api/admin/v1/margin', query, { keeps: true });
  const { data } = margin;
  const period = <FilterSelect label={marginText.period} value={days} options={options} onValue={setDays} />;
  return (
    <Card title={marginText.title} actions={period} isFlush>
      {data === undefined && margin.error !== null ? (
        <ReadErrorBox of={margin} isInset />
      ) : data?.rows.length === 0 && data.booked.length + data.paid.length === 0 ? (
        <Empty icon={ChartColumn} title={marginText.empty} text={marginText.emptyAdvice} />
      ) : (
        <MarginTable answer={data} />
      )}
    </Card>
  );
}

type Money = (micros: number) => string;
type TableProps = { readonly answer: Answer<'/api/admin/v1/margin'> | undefined };

function MarginTable({ answer }: TableProps) {
  const { currency = 'USD', creditMicros = 0 } = answer ?? {};
  const money: Money = (micros) => formatMicros(micros, currency);
  return (
    <>
      {answer !== undefined && <p class="card-note">{marginText.creditValue(money(creditMicros))}</p>}
      {answer !== undefined && <PaymentAndCreditTiles margin={answer} />}
      <Table
        caption={marginText.caption}
        rows={answer?.rows}
        rowKey={({ model, priceName, provider }) => `${model} ${priceName} ${provider}`}
        columns={[
          {
            title: marginText.model,
            kind: 'head',
            cell: ({ model, priceName }) => <ModelAndPriceName model={model} name={priceName} />,
          },
          {
            title: marginText.provider,
            cell: ({ provider }) => (provider === 'none' ? marginText.neverStarted : <code>{provider}</code>),
          },
          { title: marginText.tasks, kind: 'end', cell: ({ tasks }) => formatNumber(tasks) },
          { title: marginText.jobs, kind: 'end', cell: ({ jobs }) => formatNumber(jobs) },
          {
            title: marginText.earned,
            kind: 'end',
            cell: ({ creditsCharged, creditsRefunded }) => money((creditsCharged - creditsRefunded) * creditMicros),
          },
          { title: marginText.cost, kind: 'end', cell: (row) => <Cost row={row} money={money} /> },
          {
            title: marginText.margin,
            kind: 'end',
            cell: ({ marginMicros }) => <MarginFigure micros={marginMicros} money={money} />,
          },
        ]}
      />
    </>
  );
}

function Cost({ row, money }: { readonly row: Margin; readonly money: Money }) {
  const { costMicros, unknownJobs, foreignJobs, jobs } = row;
  const unpriced = unknownJobs + foreignJobs;
  if (unpriced === 0) return <>{money(costMicros)}</>;
  const why = [
    unknownJobs > 0 && marginText.unknownJobs(unknownJobs),
    foreignJobs > 0 && marginText.foreignJobs(foreignJobs),
  ];
  return (
    <>
      {unpriced >= jobs && costMicros === 0 ? marginText.unknown : marginText.atLeast(money(costMicros))}
      <small class="under">{why.filter(Boolean).join(', ')}</small>
    </>
  );
}

function MarginFigure({ micros, money }: { readonly micros: number | null; readonly money: Money }) {
  if (micros === null) return <span class="faint">{marginText.unknown}</span>;
  return <span class={micros < 0 ? 'amount minus' : 'amount'}>{money(micros)}</span>;
}
