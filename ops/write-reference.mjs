// Run by `npm run reference`: writes the tables of the documents that the program's own definitions contain. With --check it writes
// nothing, and fails if a page is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { commandsByName } from '../dist/src/run/cli/commands.js';
import { scrapedGauges } from '../dist/src/run/metrics/scraped-gauges.js';
import { eventMetrics } from '../dist/src/run/metrics/create-metrics-registry.js';
import { tableGrowth } from '../dist/src/library/operations/table-growth-reference.js';
import { jobStateTable } from '../dist/src/tasks/jobs/job-states.js';
import { timeLimitRows } from '../dist/src/run/time-limit-reference.js';
import { buildInfoMetric } from '../dist/src/run/metrics/process-metrics.js';

const program = new Command('videogen');
for (const add of Object.values(commandsByName)) await add(program);

const reference = {
  command: program.commands.map((command) => {
    const below = command.commands.map((each) => `\`${each.name()}\``).join(', ');
    return [`\`${command.name()}\``, below, command.description()];
  }),
  metric: [...eventMetrics, ...scrapedGauges, buildInfoMetric].map(
    ({ name, labels = [], process, help, actWhen = '' }) => {
      const braces = labels.length > 0 ? `{${labels.join(',')}}` : '';
      return [`\`${name}${braces}\``, process, help, actWhen];
    },
  ),
};

const growth = {
  table: Object.entries(tableGrowth).map(([name, { grows, shrinks }]) => [`\`${name}\``, grows, shrinks]),
};

const path = {
  job: Object.entries(jobStateTable).map(([name, { means, step = '', leadsTo }]) => {
    const states = leadsTo.map((each) => `\`${each}\``).join(', ');
    return [`\`${name}\``, means, step && `\`${step}.ts\``, states];
  }),
};

/** Replaces the rows of the table whose head begins with this cell. */
function withRows(page, text, [head, rows]) {
  const table = new RegExp(`^(\\| ${head} .*\\n\\| -.*\\n)(?:\\|.*\\n)*`, 'm');
  if (!table.test(text)) throw new Error(`${page} has no table of each ${head}`);
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |\n`);
  return text.replace(table, (_, top) => top + lines.join(''));
}

/** Ignores the padding of columns, which the formatter adds. */
const unpadded = (text) => text.replaceAll(/ +\|/g, ' |').replaceAll(/-+/g, '-');

function writeTables(page, tables) {
  const before = readFileSync(page, 'utf8');
  const after = Object.entries(tables).reduce((text, table) => withRows(page, text, table), before);
  if (!process.argv.includes('--check')) writeFileSync(page, after);
  else if (unpadded(after) !== unpadded(before)) {
    process.stderr.write(`${page} is out of date: run "npm run reference"\n`);
    process.exitCode = 1;
  }
}

writeTables('docs/operations/reference.md', reference);
writeTables('docs/operations/growth.md', growth);
writeTables('docs/path-of-a-task.md', path);
writeTables('docs/lifecycle.md', { 'what happens': timeLimitRows });
