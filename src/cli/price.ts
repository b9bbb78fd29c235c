import type { Command } from 'commander';
import { type PresentedPrice, presentPrices, presentSetPrice } from '../credits/price-view.ts';
import { id, instant, textUpTo, wholeNumber } from './arguments.ts';
import { type Answer, CommandError, isoTime, notFound } from './output.ts';
import { commandLineActor, type Context, noAccount, requireAccount, type RunOnDatabase } from './run-command.ts';
import { unknownModel } from '../models/model.ts';
import {
  listPrices,
  maxCreditsPerSecond,
  maxReasonLength,
  type SetPrice,
  setPriceAs,
  withdrawPriceAs,
} from '../credits/prices.ts';

const maxListed = 100;

export function addPriceCommands(program: Command, run: RunOnDatabase): void {
  const price = program.command('price').description('list and set the price of a second of video');
  const reason = [
    '--reason <text>',
    `reason, at most ${maxReasonLength} characters`,
    textUpTo(maxReasonLength),
  ] as const;
  price
    .command('list')
    .description('list the prices in force, and price changes, newest first')
    .option('--account <account>', 'prices of this account; by default, list prices', id)
    .option('--model <model>', 'only changes of this model')
    .action(run(list));
  price
    .command('set')
    .description('set a price for tasks created from a time on')
    .argument('<model>', 'such as videogen-2.0')
    .argument('<credits>', 'credits per second; `default` restores the list price', creditsOrDefault)
    .option('--account <account>', 'only for this account; by default, for all accounts', id)
    .option('--from <when>', 'a time, or a span from now such as 30d; by default, in a few seconds', instant)
    .requiredOption(...reason)
    .action(run(set));
  price
    .command('withdraw')
    .description('withdraw a price before it takes effect')
    .argument('<price>', 'number of the price, from price list', wholeNumber(1))
    .requiredOption(...reason)
    .action(run(withdraw));
}

async function list({ db, config }: Context, options: { account?: string; model?: string }): Promise<Answer> {
  const { account: accountId, model } = options;
  if (accountId !== undefined) await requireAccount(db, accountId);
  const models = await presentPrices({ db, catalogue: () => config.catalogue }, accountId);
  const prices = await listPrices(db, { accountId, model, limit: maxListed });
  const lines = [...models.map(modelLine), ...prices.map(priceLine)];
  return { json: { models, prices: prices.map(presentSetPrice) }, lines };
}

type SetOptions = { account?: string; from?: number; reason: string };

async function set(
  { db, config }: Context,
  model: string,
  creditsPerSecond: number | undefined,
  { account: accountId, from: fromMs, reason }: SetOptions,
): Promise<Answer> {
  const problem = unknownModel(config.catalogue.models, model);
  if (problem !== undefined) throw new CommandError(`${model}: ${problem}`);
  const setting = await setPriceAs(db, commandLineActor(), { model, accountId, creditsPerSecond, fromMs, reason });
  if (setting.kind === 'account_not_found') throw noAccount(accountId ?? '');
  if (setting.kind === 'in_the_past') throw new CommandError('--from must not be in the past');
  return priceAnswer(setting.price);
}

async function withdraw({ db }: Context, priceId: number, { reason }: { reason: string }): Promise<Answer> {
  const outcome = await withdrawPriceAs(db, commandLineActor(), { priceId, reason });
  if (outcome.kind === 'price_not_found') throw notFound('price', priceId);
  if (outcome.kind === 'too_late')
    throw new CommandError(`price ${priceId} is in force or about to be; set another price instead`);
  return priceAnswer(outcome.price);
}

/** Undefined restores the list price. */
function creditsOrDefault(text: string): number | undefined {
  return text === 'default' ? undefined : wholeNumber(1, maxCreditsPerSecond)(text);
}

function priceAnswer(price: SetPrice): Answer {
  return { json: presentSetPrice(price), lines: [priceLine(price)] };
}

function modelLine({ model, creditsPerSecond, nextPrices }: PresentedPrice): string {
  const coming = nextPrices.map((next) => `, ${next.creditsPerSecond} from ${isoTime(next.fromTime)}`).join('');
  return `${model}: ${creditsPerSecond} credits per second${coming}`;
}

function priceLine(price: SetPrice): string {
  const { priceId, model, accountId = 'all accounts', creditsPerSecond = 'default', state, who, reason } = price;
  return [priceId, model, accountId, creditsPerSecond, isoTime(price.effectiveFrom), state, who, reason].join('  ');
}
