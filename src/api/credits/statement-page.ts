import type { Brand } from '../../platform/brand/brand.ts';
import { buildConsoleHeaders, buildScriptlessPolicy } from '../console/console-headers.ts';
import { html, trustedHtml } from '../docs/html.ts';
import { sectionTitle } from '../../credits/reports/statement-section-titles.ts';
import { type AccountStatement, type StatementLine, sumSections } from '../../credits/reports/account-statement.ts';

// A page that people print, save and send, so it needs no other file. Its style is the only code that its policy allows.
const style = `
@page { size: A4; margin: 18mm; }
:root { color-scheme: light; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; background: #fff; color: #111; font: 14px/1.45 system-ui, sans-serif; }
h1 { margin: 0 0 1rem; font-size: 1.6rem; }
h2 { margin: 2rem 0 0.4rem; font-size: 1.1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.5rem; margin: 0 0 1.5rem; }
dt { color: #555; }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { min-width: 5.7rem; padding: 0.35rem 0.6rem 0.35rem 0; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: #555; font-weight: 600; }
th:last-child, td:last-child { padding-right: 0; }
.number { min-width: 0; width: 6.5rem; text-align: right; white-space: nowrap; }
.date { width: 6.5rem; white-space: nowrap; }
.balance td { border-bottom: 2px solid #111; font-weight: 600; }
@media (max-width: 30rem) { .number, .date { width: auto; } }
.note { color: #555; }
.from { margin: 0 0 0.2rem; font-weight: 600; }
tr { break-inside: avoid; }
h2 { break-after: avoid; }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 10.5pt; } }
`;

/** Plain text instead of an `html` template, because a formatter would change the text whose hash the policy contains. */
const styleElement = trustedHtml(`<style>${style}</style>`);

/** The policy of the console's pages, without scripts, requests and forms. */
export const statementHeaders = {
  ...buildConsoleHeaders([]),
  'Content-Security-Policy': buildScriptlessPolicy(style),
};

export function statementHtml(statement: AccountStatement, { name, support }: Pick<Brand, 'name' | 'support'>): string {
  const { accountName, accountId, month, fromMs, toMs, createdAt, isFinal } = statement;
  const title = `Statement for ${monthName(fromMs)}`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}: ${accountName}</title>
        ${styleElement}
      </head>
      <body>
        <p class="from">${name}</p>
        <h1>${title}</h1>
        <dl>
          <dt>Account</dt>
          <dd>${accountName}</dd>
          <dt>Account id</dt>
          <dd>${accountId}</dd>
          <dt>Period</dt>
          <dd>${day(fromMs)} to ${day(toMs - 1)} (UTC)</dd>
          <dt>Created</dt>
          <dd>${minute(createdAt)} UTC</dd>
        </dl>
        ${!isFinal && html`<p class="note">The month ${month} has not ended: entries may be added.</p>`}
        ${summary(statement)}
        ${sumSections(statement).map(({ section }) =>
          detailsOf(
            section,
            statement.lines.filter((line) => line.section === section),
          ),
        )}
        ${support !== undefined && html`<p class="note">Questions: ${support.replace(/^mailto:/, '')}</p>`}
      </body>
    </html> `;
  return page.html;
}

function summary(statement: AccountStatement) {
  const { fromMs, toMs, createdAt, isFinal, opening, closing } = statement;
  const balance = (label: string, credits: number) =>
    html`<tr class="balance">
      <td>${label}</td>
      <td></td>
      <td class="number">${number(credits)}</td>
    </tr> `;
  const sums = sumSections(statement).map(
    ({ section, entries, credits }) =>
      html`<tr>
        <td>${sectionTitle(section)}</td>
        <td class="number">${number(entries)}</td>
        <td class="number">${number(credits)}</td>
      </tr> `,
  );
  return html`<table>
    <thead>
      <tr>
        <th></th>
        <th class="number">Entries</th>
        <th class="number">Credits</th>
      </tr>
    </thead>
    <tbody>
      ${balance(`Opening balance on ${day(fromMs)}`, opening)}${sums}${balance(
        isFinal ? `Closing balance on ${day(toMs - 1)}` : `Balance on ${minute(createdAt)} UTC`,
        closing,
      )}
    </tbody>
  </table>`;
}

function detailsOf(section: string, lines: readonly StatementLine[]) {
  if (lines.length === 0) return undefined;
  const hasPrices = lines.some(({ model }) => model !== undefined);
  const heads = hasPrices
    ? html`<th>Model</th>
        <th>Price</th>
        <th class="number">Tasks</th>`
    : html`<th class="date">Date</th>
        <th>Description</th>
        <th class="number">Entries</th>`;
  const cells = ({ model, priceName, bookedAt, reason, entries }: StatementLine) =>
    hasPrices
      ? html`<td>${model}</td>
          <td>${priceName}</td>`
      : html`<td class="date">${bookedAt !== undefined && day(bookedAt)}</td>
          <td>${reason ?? `${number(entries)} further entries`}</td>`;
  const rows = lines.map(
    (line) =>
      html`<tr>
        ${cells(line)}
        <td class="number">${number(line.entries)}</td>
        <td class="number">${number(line.credits)}</td>
      </tr> `,
  );
  return html`<h2>${sectionTitle(section)}</h2>
    <table>
      <thead>
        <tr>
          ${heads}
          <th class="number">Credits</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table> `;
}

function number(value: number): string {
  return value.toLocaleString('en-US').replace('-', '\u2212');
}

function monthName(ms: number): string {
  return new Date(ms).toLocaleDateString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function minute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}
