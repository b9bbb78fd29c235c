import type { Command } from 'commander';
import { id, maxNameLength, rateOrDefault, textUpTo, wholeNumber } from './arguments.ts';
import { listed } from './output.ts';
import { commandLineActor, noAccount, type RunOnDatabase } from './run-command.ts';
import type { Rate } from '../domain/rate-limit.ts';
import { listAccounts } from '../stores/account-list.ts';
import { type Account, findAccount, limitAccountAs, openAccountAs } from '../stores/accounts.ts';

/** Accounts that are listed at most. */
export const maxListedAccounts = 1000;

export function addAccountCommands(program: Command, run: RunOnDatabase): void {
  const account = program.command('account').description('open and list accounts, and set their limits');
  const list = account
    .command('list')
    .description('accounts by name, with their credits and unfinished tasks')
    .option('--prefix <text>', 'those whose name begins like this', '');
  list.action(
    run(async ({ db }, { prefix }: { prefix: string }) => {
      return listed('accounts', await listAccounts(db, { prefix, limit: maxListedAccounts }), accountLine);
    }),
  );
  account
    .command('create')
    .description('open an account')
    .argument('<name>', `whose account it is, 1 to ${maxNameLength} characters`, textUpTo(maxNameLength))
    .option('--credits <n>', 'opening credits', wholeNumber(0), 0)
    .action(
      run(async ({ db }, name: string, { credits }: { credits: number }) => {
        const { accountId } = await openAccountAs(db, commandLineActor(), { name, credits });
        return { json: { accountId }, lines: [`Account ${name}: ${accountId}, ${credits} credits`] };
      }),
    );
  account
    .command('limits')
    .description("show an account's limits, or set them")
    .argument('<account>', 'account id', id)
    .option('--creates <rate>', "such as 50/10s; default is the installation's CREATE_RATE", rateOrDefault)
    .option('--unfinished <n>', 'unfinished tasks at most', wholeNumber(0))
    .action(
      run(async ({ db }, accountId: string, wanted: { creates?: Rate | 'default'; unfinished?: number }) => {
        const before = await findAccount(db, accountId);
        if (before === undefined) throw noAccount(accountId);
        const createRate = wanted.creates === 'default' ? undefined : (wanted.creates ?? before.createRate);
        const maxUnfinishedTasks = wanted.unfinished ?? before.maxUnfinishedTasks;
        if (wanted.creates !== undefined || wanted.unfinished !== undefined) {
          const limits = { accountId, maxUnfinishedTasks, createRate: createRate ?? null };
          await limitAccountAs(db, commandLineActor(), limits);
        }
        const creates = createRate === undefined ? 'default' : `${createRate.quota}/${createRate.windowMs / 1000}s`;
        return {
          json: { accountId, creates, unfinished: maxUnfinishedTasks },
          lines: [`Creates: ${creates}`, `Unfinished tasks: ${maxUnfinishedTasks} at most`],
        };
      }),
    );
}

function accountLine({ accountId, name, balance, unfinishedTasks, suspendedAt }: Account): string {
  const state = suspendedAt === undefined ? 'active' : 'suspended';
  return [accountId, state, `${balance} credits`, `${unfinishedTasks} unfinished tasks`, name].join('  ');
}
