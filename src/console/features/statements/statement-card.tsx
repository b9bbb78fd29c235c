import { sectionTitle } from '../../../credits/reports/statement-section-titles.ts';
import type { Statement, StatementLine } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { statementPath } from '../../paths.ts';
import { FilterSelect } from '../../ui/forms/form-fields.tsx';
import { useUrlParameters } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Download, ExternalLink } from '../../ui/controls/icons.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { SignedAmount, formatNumber, nonStandardPriceName } from '../../ui/number-formats.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { monthName, monthsSince, thisMonth } from './months.ts';
import { statementsText as text } from './statements-text.ts';
import './statement-card.css';

/** The statement of a month: as figures, as a page for printing and as a file. */
export function StatementCard() {
  const { get, set } = useUrlParameters();
  const { accountId } = useAccount();
  const current = thisMonth();
  const month = get('month') ?? current;
  const statement = useRead('/api/v1/credits/statement', { month }, { keeps: true });
  // A month from an edited address is offered as well, so that the list shows what the page shows.
  const months = [...new Set([...monthsSince(statement.data?.firstMonth ?? month), month])].toSorted().toReversed();
  const actions = (
    <>
      <FilterSelect
        label={text.month}
        value={month}
        options={months.map((value) => ({ value, label: monthName(value) }))}
        onValue={(value) => set({ month: value === current ? undefined : value })}
      />
      <a class="button" href={statementPath(accountId, month, 'html')} target="_blank" rel="noopener">
        <ExternalLink size={16} aria-hidden="true" /> {text.print}
      </a>
      <a class="button" href={statementPath(accountId, month, 'csv')} download>
        <Download size={16} aria-hidden="true" /> {text.csv}
      </a>
    </>
  );
  return (
    <Card title={text.title} actions={actions} isFlush>
      <Loaded of={statement} heights={[340]} isInset>
        {(data) => <Figures statement={data} />}
      </Loaded>
    </Card>
  );
}

const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

function Figures({ statement }: { readonly statement: Statement }) {
  const { month, fromTime, toTime, isFinal, opening, closing, sections, lines } = statement;
  const lastDay = dayFormat.format(toTime - 1);
  return (
    <>
      <p class="card-note">{isFinal ? text.final : text.notFinal}</p>
      <div class="table-box">
        <table class="statement">
          <caption class="visually-hidden">{text.caption(monthName(month))}</caption>
          <thead>
            <tr>
              <th scope="col">{text.entry}</th>
              <th scope="col" class="end">
                {text.entries}
              </th>
              <th scope="col" class="end">
                {text.credits}
              </th>
            </tr>
          </thead>
          <tbody>
            <Balance label={text.opening(dayFormat.format(fromTime))} credits={opening} />
          </tbody>
          {sections.map(({ section, entries, credits }) => (
            <tbody key={section}>
              <tr class={entries === 0 ? 'section faint' : 'section'}>
                <th scope="rowgroup">{sectionTitle(section)}</th>
                <td class="end">{formatNumber(entries)}</td>
                <td class="end">
                  <SignedAmount amount={credits} />
                </td>
              </tr>
              <Lines lines={lines.filter((line) => line.section === section)} />
            </tbody>
          ))}
          <tbody>
            <Balance label={isFinal ? text.closing(lastDay) : text.current} credits={closing} />
          </tbody>
        </table>
      </div>
    </>
  );
}

function Balance({ label, credits }: { readonly label: string; readonly credits: number }) {
  return (
    <tr class="balance-row">
      <th scope="row" colSpan={2}>
        {label}
      </th>
      <td class="end">{formatNumber(credits).replace('-', '\u2212')}</td>
    </tr>
  );
}

/** A page with a thousand grants would be slow; the file has them all. */
const maxLines = 50;

function Lines({ lines }: { readonly lines: readonly StatementLine[] }) {
  return (
    <>
      {lines.slice(0, maxLines).map((line, index) => (
        <tr key={index}>
          <td class="line">
            <bdi>{nameOf(line)}</bdi>
            {line.bookTime !== null && <small class="under">{dayFormat.format(line.bookTime)}</small>}
          </td>
          <td class="end">{formatNumber(line.entries)}</td>
          <td class="end">
            <SignedAmount amount={line.credits} />
          </td>
        </tr>
      ))}
      {lines.length > maxLines && (
        <tr>
          <td class="line soft" colSpan={3}>
            {text.more(lines.length - maxLines)}
          </td>
        </tr>
      )}
    </>
  );
}

/** The model and its price row, or the reason of a booking. */
function nameOf({ model, priceName, reason }: StatementLine): string {
  if (model === null) return reason ?? text.furtherEntries;
  const price = nonStandardPriceName(priceName);
  return price === undefined ? model : `${model}, ${price}`;
}
