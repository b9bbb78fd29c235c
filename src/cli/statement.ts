import { type Command, InvalidArgumentError, Option } from 'commander';
import { monthOf, readStatement } from '../credits/statement.ts';
import { statementCsv } from '../credits/statement-csv.ts';
import { statementHtml } from '../credits/statement-view.ts';
import { addCommand, sampleAccount } from './add-command.ts';
import { accountIdOrName } from './arguments.ts';
import type { Answer } from './output.ts';
import { type Context, requireAccount, type RunOnDatabase } from './run-command.ts';

const formats = { csv: statementCsv, html: statementHtml } as const;

type Month = NonNullable<ReturnType<typeof monthOf>>;
type Options = { month: Month; format: keyof typeof formats };

export function addStatementCommand(program: Command, run: RunOnDatabase): void {
  addCommand(program, 'statement', sampleAccount, `${sampleAccount} --month 2026-10 --format html > statement.html`)
    .description('print the statement of an account for a month, which equals its ledger')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .addOption(
      new Option('--month <month>', 'a month in UTC, such as 2026-10')
        .argParser(month)
        .default(month(lastMonth()), 'the last one that has ended'),
    )
    .addOption(new Option('--format <format>').choices(Object.keys(formats)).default('csv'))
    .action(run(print));
}

async function print({ db, config }: Context, accountId: string, options: Options): Promise<Answer> {
  const { month: chosen, format } = options;
  await requireAccount(db, accountId);
  const statement = await readStatement(db, { accountId, ...chosen });
  return { json: statement, lines: formats[format](statement, config.brand).trimEnd().split(/\r?\n/) };
}

function month(text: string): Month {
  const parsed = monthOf(text);
  if (parsed === undefined || parsed.fromMs > Date.now())
    throw new InvalidArgumentError('It must be a month that has begun, such as 2026-01.');
  return parsed;
}

function lastMonth(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7);
}
