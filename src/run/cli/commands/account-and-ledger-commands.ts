import type { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../../platform/setup-errors-and-error-messages.ts';
import { openAccountAs } from '../../../credits/open-account.ts';
import { bookCreditsAs } from '../../../credits/ledger/ledger-entries-and-book-credits.ts';
import { auditLedger } from '../../../credits/ledger/ledger-audit.ts';
import { maxPriceReasonLength } from '../../../credits/prices/operator-prices.ts';
import { accountNotFoundError } from '../account-by-name.ts';
import { addCommand } from '../add-command.ts';
import { accountOption, parseIdempotencyKey, maxNameLength, textParser, wholeNumberParser } from '../arguments.ts';
import { type CommandAnswer, CommandError } from '../command-output-and-errors.ts';
import {
  commandLineActor,
  type DatabaseAndConfig,
  requireAccount,
  type RunOnDatabase,
} from '../database-and-temporal-for-commands.ts';
import { publicUrlOf } from '../generate/service-options.ts';

export function addAccountCommands(program: Command, run: RunOnDatabase): void {
  const account = addCommand(program, 'account').description('open accounts, and export their data');
  addCommand(account, 'create', 'studio --credits 10000')
    .description('open an account')
    .argument('<name>', `name, 1 to ${maxNameLength} characters`, textParser(maxNameLength))
    .option('--credits <n>', 'opening credits', wholeNumberParser(0), 0)
    .action(run(create));
  addCommand(account, 'export', '--account studio', '--account studio --output account.jsonl')
    .description('write all stored data of an account to a file, as lines of JSON')
    .requiredOption(...accountOption)
    .option('--output <file>', 'new file, or - for the standard output; by default videogen-ACCOUNT.jsonl')
    .action(run(exportData));
}

async function create(
  { db }: DatabaseAndConfig,
  name: string,
  { credits }: { credits: number },
): Promise<CommandAnswer> {
  const { accountId } = await openAccountAs(db, commandLineActor(), { name, credits });
  return { json: { accountId }, lines: [`Account ${name}: ${accountId}, ${credits} credits`] };
}

/** Writes an account's data to a new file or the standard output, for its owner. */
async function exportData(
  { db, config }: DatabaseAndConfig,
  { account: accountId, output: path = `videogen-${accountId}.jsonl` }: { account: string; output?: string },
): Promise<CommandAnswer> {
  const [{ readOrCreateSecret }, { streamAccountAsJsonLines }, { createLinkSigner }] = await Promise.all([
    import('../../embedded/data-folder-lock-and-files.ts'),
    import('../../../api/accounts/stream-account-as-json-lines.ts'),
    import('../../../media/store/signed-link.ts'),
  ]);
  await requireAccount(db, accountId);
  const secret = config.secret ?? (await readOrCreateSecret(config.dataFolder));
  const links = createLinkSigner({ secret, publicUrl: await publicUrlOf(config) });
  const lines = streamAccountAsJsonLines(db, { link: (key) => links.sign(key) }, accountId);
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

export function addCreditsCommands(program: Command, run: RunOnDatabase): void {
  const credits = addCommand(program, 'credits').description('grant credits');
  const sampleGrant = '5000 --account studio --reason "invoice 17"';
  addCommand(credits, 'grant', sampleGrant, `${sampleGrant} --idempotency-key invoice-17`)
    .description('grant credits to an account; the reason is stored in the ledger')
    .argument('<credits>', 'number of credits', wholeNumberParser(1))
    .requiredOption(...accountOption)
    .requiredOption(
      '--reason <text>',
      `reason, at most ${maxPriceReasonLength} characters`,
      textParser(maxPriceReasonLength),
    )
    .option(
      '--idempotency-key <key>',
      'books once for this key, so that a repeated command is safe',
      parseIdempotencyKey,
    )
    .action(run(grant));
}

async function grant(
  { db }: DatabaseAndConfig,
  granted: number,
  { account: accountId, ...options }: { account: string; reason: string; idempotencyKey?: string },
): Promise<CommandAnswer> {
  const booking = { accountId, kind: 'grant', amount: granted, ...options } as const;
  const outcome = await bookCreditsAs(db, commandLineActor(), booking);
  if (outcome.kind === 'account_not_found') throw accountNotFoundError(accountId);
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

export function addLedgerAuditCommand(program: Command, run: RunOnDatabase): void {
  addCommand(program, 'audit', '', '--json')
    .description('audit the whole ledger; exit code 1 if it finds violations')
    .action(run(audit));
}

async function audit({ db }: DatabaseAndConfig): Promise<CommandAnswer> {
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
