import type { Command } from 'commander';
import {
  type CodeBatch,
  createCodesAs,
  listCodeBatches,
  maxCodesOfBatch,
  withdrawCodesAs,
} from '../credits/redemption-codes.ts';
import { maxReasonLength } from '../credits/prices.ts';
import { addCommand } from './add-command.ts';
import { futureInstant, id, textUpTo, wholeNumber } from './arguments.ts';
import { type Answer, isoTime, listed, notFound } from './output.ts';
import { commandLineActor, type Context, type RunOnDatabase } from './run-command.ts';

const maxListed = 100;

export function addCodeCommands(program: Command, run: RunOnDatabase): void {
  const code = addCommand(program, 'code').description(
    'create, list and withdraw codes that customers redeem for credits',
  );
  addCommand(code, 'create', '--name "spring sale" --credits 500 --count 100 --expires 90d > codes.csv')
    .description('create a batch of codes and print them as CSV; they are shown once and stored as hashes')
    .requiredOption('--name <name>', 'name of the batch, which customers see in their ledger', textUpTo(100))
    .requiredOption('--credits <credits>', 'credits of each code', wholeNumber(1))
    .option('--count <codes>', 'how many', wholeNumber(1, maxCodesOfBatch), 1)
    .option('--expires <when>', 'expiry: a time, or a span such as 90d', futureInstant)
    .action(run(create));
  addCommand(code, 'list')
    .description('list the newest batches')
    .action(run(async ({ db }) => listed('batches', await listCodeBatches(db, maxListed), batchColumns)));
  addCommand(code, 'withdraw', '019abc9a-bcde-7def-8901-234567890abc --reason "the list leaked"')
    .description('withdraw the codes of a batch that were not redeemed yet')
    .argument('<batch>', 'id of the batch, from code list', id)
    .requiredOption('--reason <text>', 'reason, for the audit log', textUpTo(maxReasonLength))
    .action(run(withdraw));
}

type CreateOptions = { name: string; credits: number; count: number; expires?: number };

async function create({ db }: Context, { name, credits, count, expires }: CreateOptions): Promise<Answer> {
  const batch = { name, credits, codes: count, expiresAt: expires };
  const created = await createCodesAs(db, commandLineActor(), batch);
  return { json: created, lines: ['code,credits', ...created.codes.map((code) => `${code},${credits}`)] };
}

async function withdraw({ db }: Context, batchId: string, { reason }: { reason: string }): Promise<Answer> {
  const batch = await withdrawCodesAs(db, commandLineActor(), { batchId, reason });
  if (batch === undefined) throw notFound('batch', batchId);
  return { json: batch, lines: [`${batch.codes - batch.redeemed} of ${batch.codes} codes are withdrawn.`] };
}

const batchColumns = {
  header: ['BATCH', 'REDEEMED', 'CREDITS EACH', 'STATE', 'NAME'],
  cells: ({ batchId, name, credits, codes, redeemed, expiresAt, withdrawnAt }: CodeBatch) => {
    const ends = expiresAt === undefined ? 'no expiry' : `expires ${isoTime(expiresAt)}`;
    const state = withdrawnAt === undefined ? ends : `withdrawn ${isoTime(withdrawnAt)}`;
    return [batchId, `${redeemed} of ${codes}`, `${credits}`, state, name];
  },
};
