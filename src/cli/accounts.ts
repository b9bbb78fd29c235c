import type { Command } from 'commander';
import type { Rate } from '../domain/rate-limit.ts';
import { listAccounts } from '../stores/account-list.ts';
import { closeAccountAs } from '../stores/account-closure.ts';
import { type Account, limitAccountAs, openAccountAs, renameAccountAs } from '../stores/accounts.ts';
import { bookCreditsAs } from '../stores/credits.ts';
import { auditLedger } from '../stores/ledger-audit.ts';
import { maxReasonLength } from '../stores/prices.ts';
import { exportToFile } from './account-export.ts';
import { id, maxNameLength, rateOrDefault, textUpTo, wholeNumber } from './arguments.ts';
import { type Answer, CommandError, listed } from './output.ts';
import { commandLineActor, type Context, noAccount, requireAccount, type RunOnDatabase } from './run-command.ts';

/** Accounts that are listed at most. */
export const maxListedAccounts = 1000;

export function addAccountCommands(program: Command, run: RunOnDatabase): void {
  const account = program
    .command('account')
    .description('open, list, rename, export and close accounts, and set their limits');
  account
    .command('list')
    .description('accounts by name, with their credits and unfinished tasks')
    .option('--prefix <text>', 'those whose name begins like this', '')
    .action(run(list));
  account
    .command('create')
    .description('open an account')
    .argument('<name>', `whose account it is, 1 to ${maxNameLength} characters`, textUpTo(maxNameLength))
    .option('--credits <n>', 'opening credits', wholeNumber(0), 0)
    .action(run(create));
  account
    .command('rename')
    .description('rename an account')
    .argument('<account>', 'account id', id)
    .argument('<name>', `the new name, 1 to ${maxNameLength} characters`, textUpTo(maxNameLength))
    .action(run(rename));
  account
    .command('limits')
    .description("show an account's limits, or set them")
    .argument('<account>', 'account id', id)
    .option('--creates <rate>', "such as 50/10s; default is the installation's CREATE_RATE", rateOrDefault)
    .option('--unfinished <n>', 'unfinished tasks at most', wholeNumber(0))
    .action(run(limits));
  account
    .command('close')
    .description('close an account for good, and delete what its tasks were about; the ledger stays')
    .argument('<account>', 'account id', id)
    .requiredOption('--reason <text>', `why, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength))
    .action(run(close));
  account
    .command('export')
    .description('write everything that is kept of an account into a file, as lines of JSON')
    .argument('<account>', 'account id', id)
    .option('--output <file>', 'a new file; videogen-ACCOUNT.jsonl by default')
    .action(run(exportToFile));
}

async function close({ db }: Context, accountId: string, { reason }: { reason: string }): Promise<Answer> {
  const account = await closeAccountAs(db, commandLineActor(), { accountId, reason });
  if (account?.closedAt === undefined) throw noAccount(accountId);
  const when = new Date(account.closedAt).toISOString();
  const lines = [`Account ${accountId} is closed since ${when}; what its tasks were about is deleted within minutes.`];
  return { json: { accountId, closedAt: account.closedAt }, lines };
}

async function list({ db }: Context, { prefix }: { prefix: string }): Promise<Answer> {
  return listed('accounts', await listAccounts(db, { prefix, limit: maxListedAccounts }), accountLine);
}

async function create({ db }: Context, name: string, { credits }: { credits: number }): Promise<Answer> {
  const { accountId } = await openAccountAs(db, commandLineActor(), { name, credits });
  return { json: { accountId }, lines: [`Account ${name}: ${accountId}, ${credits} credits`] };
}

async function rename({ db }: Context, accountId: string, name: string): Promise<Answer> {
  const account = await renameAccountAs(db, commandLineActor(), { accountId, name });
  if (account === undefined) throw noAccount(accountId);
  return { json: { accountId, name }, lines: [`Account ${accountId} is now called ${name}.`] };
}

type Limits = { creates?: Rate | 'default'; unfinished?: number };

async function limits({ db }: Context, accountId: string, wanted: Limits): Promise<Answer> {
  const before = await requireAccount(db, accountId);
  const createRate = wanted.creates === 'default' ? undefined : (wanted.creates ?? before.createRate);
  const unfinished = wanted.unfinished ?? before.maxUnfinishedTasks;
  if (wanted.creates !== undefined || wanted.unfinished !== undefined) {
    const set = { accountId, maxUnfinishedTasks: unfinished, createRate: createRate ?? null };
    await limitAccountAs(db, commandLineActor(), set);
  }
  const creates = createRate === undefined ? 'default' : `${createRate.quota}/${createRate.windowMs / 1000}s`;
  const lines = [`Creates: ${creates}`, `Unfinished tasks: ${unfinished} at most`];
  return { json: { accountId, creates, unfinished }, lines };
}

function accountLine({ accountId, name, balance, unfinishedTasks, suspendedAt, closedAt }: Account): string {
  const state = closedAt !== undefined ? 'closed' : suspendedAt === undefined ? 'active' : 'suspended';
  return [accountId, state, `${balance} credits`, `${unfinishedTasks} unfinished tasks`, name].join('  ');
}

export function addCreditsCommands(program: Command, run: RunOnDatabase): void {
  const credits = program.command('credits').description('give credits');
  credits
    .command('grant')
    .description('add credits to an account; the entry and its reason stay in the ledger')
    .argument('<account>', 'account id', id)
    .argument('<credits>', 'how many', wholeNumber(1))
    .requiredOption('--reason <text>', `why, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength))
    .action(run(grant));
}

async function grant(
  { db }: Context,
  accountId: string,
  granted: number,
  options: { reason: string },
): Promise<Answer> {
  const booking = { accountId, kind: 'grant', amount: granted, ...options } as const;
  const outcome = await bookCreditsAs(db, commandLineActor(), booking);
  if (outcome.kind === 'account_not_found') throw noAccount(accountId);
  if (outcome.kind !== 'booked') throw new CommandError('balance out of range');
  const balance = outcome.entry.balanceAfter;
  return { json: { accountId, granted, balance }, lines: [`Granted ${granted} credits; the balance is ${balance}.`] };
}

export function addBalanceCommand(program: Command, run: RunOnDatabase): void {
  program
    .command('balance')
    .description("an account's credits, or those of every account")
    .argument('[account]', 'account id', id)
    .action(run(balances));
}

async function balances({ db }: Context, accountId: string | undefined): Promise<Answer> {
  if (accountId === undefined) {
    const accounts = await listAccounts(db, { limit: maxListedAccounts });
    return listed('accounts', accounts.map(balanceOf), balanceLine);
  }
  const account = await requireAccount(db, accountId);
  return { json: balanceOf(account), lines: [`${account.balance} credits`] };
}

function balanceOf({ accountId, name, balance }: Account) {
  return { accountId, name, balance };
}

function balanceLine({ accountId, name, balance }: ReturnType<typeof balanceOf>): string {
  return `${accountId}  ${String(balance).padStart(12)} credits  ${name}`;
}

export function addAuditCommand(program: Command, run: RunOnDatabase): void {
  program
    .command('audit')
    .description('prove the books over the whole database; exit 1 when something is wrong')
    .action(run(audit));
}

async function audit({ db }: Context): Promise<Answer> {
  const violations = await auditLedger(db);
  if (violations.length === 0) return { json: { violations }, lines: ['The books add up.'] };
  process.exitCode = 1;
  const lines = violations.map(({ rule, accountId, entryId, taskId, detail }) => {
    const where = Object.entries({ account: accountId, entry: entryId, task: taskId });
    const named = where.flatMap(([kind, value]) => (value === undefined ? [] : [`${kind} ${value}`]));
    return [rule, ...named, detail].join('  ');
  });
  return { json: { violations }, lines };
}
