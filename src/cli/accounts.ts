import type { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../platform/errors.ts';
import type { Rate } from '../platform/rate-limit.ts';
import { accountState, listAccounts } from '../accounts/account-list.ts';
import { closeAccountAs } from '../accounts/account-closure.ts';
import { type Account, limitAccountAs, openAccountAs, renameAccountAs } from '../accounts/accounts.ts';
import { bookCreditsAs } from '../credits/credits.ts';
import { auditLedger } from '../credits/ledger-audit.ts';
import { maxReasonLength } from '../credits/prices.ts';
import { addCommand, sampleAccount } from './add-command.ts';
import { accountIdOrName, idempotencyKey, maxNameLength, rateOrDefault, textUpTo, wholeNumber } from './arguments.ts';
import { type Answer, CommandError, isoTime, listed } from './output.ts';
import { commandLineActor, type Context, noAccount, requireAccount, type RunOnDatabase } from './run-command.ts';
import { publicUrlOf } from './service-options.ts';

const pageSize = 1000;

export function addAccountCommands(program: Command, run: RunOnDatabase): void {
  const account = addCommand(program, 'account').description(
    'open, list, rename, export and close accounts, and set their limits',
  );
  addCommand(account, 'list', '', '--prefix stu --json')
    .description('list accounts by name, with their credits and unfinished tasks')
    .option('--prefix <text>', 'only accounts whose name starts with this', '')
    .action(run(list));
  addCommand(account, 'create', 'studio --credits 10000')
    .description('open an account')
    .argument('<name>', `name, 1 to ${maxNameLength} characters`, textUpTo(maxNameLength))
    .option('--credits <n>', 'opening credits', wholeNumber(0), 0)
    .action(run(create));
  addCommand(account, 'rename', `${sampleAccount} "Harbor Films"`)
    .description('rename an account')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .argument('<name>', `the new name, 1 to ${maxNameLength} characters`, textUpTo(maxNameLength))
    .action(run(rename));
  addCommand(account, 'limits', sampleAccount, `${sampleAccount} --creates 50/10s --unfinished 200`)
    .description("show or set an account's limits")
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .option(
      '--creates <rate>',
      "create rate, such as 50/10s; `default` is the installation's CREATE_RATE",
      rateOrDefault,
    )
    .option('--unfinished <n>', 'maximum number of unfinished tasks', wholeNumber(0))
    .action(run(limits));
  addCommand(account, 'close', `${sampleAccount} --reason "requested by its owner"`)
    .description('close an account permanently and delete the content of its tasks; the ledger stays')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .requiredOption('--reason <text>', `reason, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength))
    .action(run(close));
  addCommand(account, 'export', sampleAccount, `${sampleAccount} --output account.jsonl`, `${sampleAccount} --output -`)
    .description('write all stored data of an account to a file, as lines of JSON')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .option('--output <file>', 'new file, or - for the standard output; by default videogen-ACCOUNT.jsonl')
    .action(run(exportData));
}

async function close({ db }: Context, accountId: string, { reason }: { reason: string }): Promise<Answer> {
  const account = await closeAccountAs(db, commandLineActor(), { accountId, reason });
  if (account?.closedAt === undefined) throw noAccount(accountId);
  const lines = [
    `Account ${accountId} closed at ${isoTime(account.closedAt)}; the content of its tasks is deleted within minutes.`,
  ];
  return { json: { accountId, closedAt: account.closedAt }, lines };
}

async function list({ db }: Context, { prefix }: { prefix: string }): Promise<Answer> {
  return listed('accounts', await allAccounts(db, prefix), accountColumns);
}

async function allAccounts(db: Context['db'], prefix?: string): Promise<readonly Account[]> {
  const all: Account[] = [];
  for (let after: string | undefined; ;) {
    const page = await listAccounts(db, { prefix, after, limit: pageSize });
    all.push(...page);
    after = page.at(-1)?.accountId;
    if (page.length < pageSize) return all;
  }
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

async function limits({ db }: Context, accountId: string, given: Limits): Promise<Answer> {
  const before = await requireAccount(db, accountId);
  const createRate = given.creates === 'default' ? undefined : (given.creates ?? before.createRate);
  const unfinished = given.unfinished ?? before.maxUnfinishedTasks;
  if (given.creates !== undefined || given.unfinished !== undefined) {
    const set = { accountId, maxUnfinishedTasks: unfinished, createRate: createRate ?? null };
    await limitAccountAs(db, commandLineActor(), set);
  }
  const creates = createRate === undefined ? 'default' : `${createRate.quota}/${createRate.windowMs / 1000}s`;
  const lines = [`Creates: ${creates}`, `Unfinished tasks: ${unfinished} at most`];
  return { json: { accountId, creates, unfinished }, lines };
}

/** Writes an account's data to a new file or the standard output, for its owner. */
async function exportData(
  { db, config }: Context,
  accountId: string,
  { output: path = `videogen-${accountId}.jsonl` }: { readonly output?: string },
): Promise<Answer> {
  const [{ persistedSecret }, { exportAccount }, { createLinkSigner }] = await Promise.all([
    import('../embedded/data-folder.ts'),
    import('../accounts/account-export-view.ts'),
    import('../media/signed-link.ts'),
  ]);
  await requireAccount(db, accountId);
  const secret = config.secret ?? (await persistedSecret(config.dataFolder));
  const links = createLinkSigner({ secret, publicUrl: await publicUrlOf(config) });
  const lines = exportAccount(db, { link: (key) => links.sign(key) }, accountId);
  if (path === '-') {
    await pipeline(lines, process.stdout, { end: false });
    // Nothing may follow the data.
    return { json: {}, lines: [] };
  }
  try {
    // An existing file may be an earlier export; other users of this machine must not read the file.
    await pipeline(lines, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (errorCode(error) === 'EEXIST')
      throw new CommandError(`${path} exists already; name another file with --output`);
    throw error;
  }
  return { json: { accountId, file: path }, lines: [`Written to ${path}. Links to media in it are valid for a day.`] };
}

const accountColumns = {
  header: ['ACCOUNT', 'STATE', 'CREDITS', 'UNFINISHED', 'NAME'],
  cells: (account: Account) => {
    const { accountId, name, balance, unfinishedTasks } = account;
    return [accountId, accountState(account), `${balance}`, `${unfinishedTasks}`, name];
  },
};

export function addCreditsCommands(program: Command, run: RunOnDatabase): void {
  const credits = addCommand(program, 'credits').description('grant credits');
  const sampleGrant = `${sampleAccount} 5000 --reason "invoice 17"`;
  addCommand(credits, 'grant', sampleGrant, `${sampleGrant} --idempotency-key invoice-17`)
    .description('grant credits to an account; the reason is stored in the ledger')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .argument('<credits>', 'number of credits', wholeNumber(1))
    .requiredOption('--reason <text>', `reason, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength))
    .option('--idempotency-key <key>', 'books once for this key, so that a repeated command is safe', idempotencyKey)
    .action(run(grant));
}

async function grant(
  { db }: Context,
  accountId: string,
  granted: number,
  options: { reason: string; idempotencyKey?: string },
): Promise<Answer> {
  const booking = { accountId, kind: 'grant', amount: granted, ...options } as const;
  const outcome = await bookCreditsAs(db, commandLineActor(), booking);
  if (outcome.kind === 'account_not_found') throw noAccount(accountId);
  if (outcome.kind === 'key_reused')
    throw new CommandError('the idempotency key was used for another booking; use a new key');
  if (outcome.kind === 'balance_out_of_range') throw new CommandError('balance out of range');
  const balance = outcome.entry.balanceAfter;
  if (outcome.kind === 'replayed') {
    const lines = [`Nothing granted: this grant was booked before; the balance after it was ${balance}.`];
    return { json: { accountId, granted: 0, balance }, lines };
  }
  return { json: { accountId, granted, balance }, lines: [`Granted ${granted} credits; the balance is ${balance}.`] };
}

export function addBalanceCommand(program: Command, run: RunOnDatabase): void {
  addCommand(program, 'balance', '', `${sampleAccount} --json`)
    .description('show the credits of an account, or of all accounts')
    .argument('[account]', 'account, by id or name', accountIdOrName)
    .action(run(balances));
}

async function balances({ db }: Context, accountId: string | undefined): Promise<Answer> {
  if (accountId === undefined) {
    const accounts = await allAccounts(db);
    return listed('accounts', accounts.map(balanceOf), balanceColumns);
  }
  const account = await requireAccount(db, accountId);
  return { json: balanceOf(account), lines: [`${account.balance} credits`] };
}

function balanceOf({ accountId, name, balance }: Account) {
  return { accountId, name, balance };
}

const balanceColumns = {
  header: ['ACCOUNT', 'CREDITS', 'NAME'],
  cells: ({ accountId, name, balance }: ReturnType<typeof balanceOf>) => [accountId, `${balance}`, name],
};

export function addAuditCommand(program: Command, run: RunOnDatabase): void {
  addCommand(program, 'audit', '', '--json')
    .description('audit the whole ledger; exit code 1 if it finds violations')
    .action(run(audit));
}

async function audit({ db }: Context): Promise<Answer> {
  const violations = await auditLedger(db);
  if (violations.length === 0) return { json: { violations }, lines: ['The ledger is consistent.'] };
  process.exitCode = 1;
  const lines = violations.map(({ rule, accountId, entryId, taskId, detail }) => {
    const rows = Object.entries({ account: accountId, entry: entryId, task: taskId });
    const ids = rows.flatMap(([kind, value]) => (value === undefined ? [] : [`${kind} ${value}`]));
    return [rule, ...ids, detail].join('  ');
  });
  return { json: { violations }, lines };
}
