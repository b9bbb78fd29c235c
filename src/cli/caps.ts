import { type Command, InvalidArgumentError } from 'commander';
import { lockOpenAccount } from '../accounts/accounts.ts';
import {
  type CapChange,
  type CapPeriod,
  type CapSubject,
  listSpendCaps,
  setCaps,
  type SpendCap,
} from '../credits/spend-caps.ts';
import { recordAction } from '../operators/operator-actions.ts';
import { addCommand, sampleAccount, sampleKey } from './add-command.ts';
import { accountIdOrName, id, wholeNumber } from './arguments.ts';
import { type Answer, CommandError, isoTime, listed, notFound } from './output.ts';
import { commandLineActor, type Context, requireAccount, type RunOnDatabase } from './run-command.ts';

export function addCapCommands(program: Command, run: RunOnDatabase): void {
  const cap = addCommand(program, 'cap').description(
    'list and set what an account, its keys and its members may spend',
  );
  addCommand(cap, 'list', sampleAccount)
    .description('list the spend caps of an account, with what was spent')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .action(run(list));
  addCommand(
    cap,
    'set',
    `${sampleAccount} --month 50000`,
    `${sampleAccount} --key ${sampleKey} --day 2000 --total none`,
  )
    .description('set spend caps of the account, or of one of its keys or members; `none` removes a cap')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .option('--key <key>', 'key id', id)
    .option('--member <user>', 'user id', id)
    .option('--day <credits>', 'what it may spend per day (UTC)', creditsOrNone)
    .option('--month <credits>', 'what it may spend per month (UTC)', creditsOrNone)
    .option('--total <credits>', 'what it may spend in total', creditsOrNone)
    .action(run(set));
}

// Commander would take null for a missing value.
function creditsOrNone(text: string): number | 'none' {
  if (text === 'none') return 'none';
  try {
    return wholeNumber(0)(text);
  } catch {
    throw new InvalidArgumentError('It must be a whole number, 0 or more, or none.');
  }
}

async function list({ db }: Context, accountId: string): Promise<Answer> {
  await requireAccount(db, accountId);
  return listed('caps', await listSpendCaps(db, accountId), capColumns);
}

type Options = { [Period in CapPeriod]?: number | 'none' } & { key?: string; member?: string };

async function set(context: Context, accountId: string, { key, member, ...given }: Options): Promise<Answer> {
  if (key !== undefined && member !== undefined) throw new CommandError('use either --key or --member, not both');
  if (Object.keys(given).length === 0) throw new CommandError('give at least one of --day, --month and --total');
  const change: CapChange = Object.fromEntries(
    Object.entries(given).map(([period, credits]) => [period, credits === 'none' ? null : credits]),
  );
  await requireAccount(context.db, accountId);
  const subject: CapSubject =
    key !== undefined
      ? { kind: 'key', id: key }
      : member === undefined
        ? { kind: 'account', id: accountId }
        : { kind: 'member', id: member };
  const isSet = await recordAction(context.db, commandLineActor(), async (transaction) => {
    await lockOpenAccount(transaction, accountId);
    const answer = await setCaps(transaction, accountId, subject, change);
    if (!answer) return { answer };
    const keyId = key === undefined ? {} : { keyId: key };
    const details = { subject: subject.kind, subjectId: subject.id, ...change };
    return { answer, done: { action: 'caps.set', accountId, ...keyId, details } };
  });
  if (!isSet) throw notFound(subject.kind, subject.id);
  return list(context, accountId);
}

const capColumns = {
  header: ['SUBJECT', 'ID', 'PERIOD', 'SPENT', 'RESETS'],
  cells: ({ subject, subjectId, period, credits, spent, resetsAt }: SpendCap) => {
    const resets = resetsAt === undefined ? 'never' : isoTime(resetsAt);
    return [subject, subjectId, period, `${spent} of ${credits} credits`, resets];
  },
};
