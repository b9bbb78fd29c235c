import type { Command } from 'commander';
import { type PresentedPrice, presentPrices, presentSetPrice } from '../http/presenters/price.ts';
import { id, instant, textUpTo, wholeNumber } from './arguments.ts';
import { type Answer, CommandError } from './output.ts';
import { commandLineActor, type Context, noAccount, requireAccount, type RunOnDatabase } from './run-command.ts';
import { unknownModel } from '../domain/models.ts';
import {
  listPrices,
  maxCreditsPerSecond,
  maxReasonLength,
  type SetPrice,
  setPriceAs,
  withdrawPriceAs,
} from '../stores/prices.ts';

/** Decisions that are listed at most, the newest first. */
const maxListed = 100;

export function addPriceCommands(program: Command, run: RunOnDatabase): void {
  const price = program.command('price').description('say what a second of a model costs, and from when on');
  const reason = ['--reason <text>', `why, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength)] as const;
  price
    .command('list')
    .description('what the models cost, and what was decided about it')
    .option('--account <account>', 'for this account; without it, for those without prices of their own', id)
    .option('--model <model>', 'decisions about this model alone')
    .action(run(list));
  price
    .command('set')
    .description('set a price, for tasks created from then on; every other task keeps what it was charged')
    .argument('<model>', 'such as videogen-2.0')
    .argument('<credits>', 'whole credits a second; default goes back to the list price', creditsOrDefault)
    .option('--account <account>', 'for this account alone; without it, for everybody', id)
    .option('--from <when>', 'an instant, or a span from now such as 30d; without it, in a few seconds', instant)
    .requiredOption(...reason)
    .action(run(set));
  price
    .command('withdraw')
    .description('withdraw a price that is not in force yet')
    .argument('<price>', 'its number, from price list', wholeNumber(1))
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
  const fault = unknownModel(config.catalogue.models, model);
  if (fault !== undefined) throw new CommandError(`${model}: ${fault}`);
  const wanted = { model, accountId, creditsPerSecond, fromMs, reason };
  const setting = await setPriceAs(db, commandLineActor(), wanted);
  if (setting.kind === 'account_not_found') throw noAccount(accountId ?? '');
  if (setting.kind === 'in_the_past') throw new CommandError('--from is past; a price counts from now on or later');
  return priceAnswer(setting.price);
}

async function withdraw({ db }: Context, priceId: number, { reason }: { reason: string }): Promise<Answer> {
  const withdrawal = await withdrawPriceAs(db, commandLineActor(), { priceId, reason });
  if (withdrawal.kind === 'price_not_found') throw new CommandError(`no such price: ${priceId}`);
  if (withdrawal.kind === 'too_late')
    throw new CommandError(`price ${priceId} is in force or about to be; set another one to follow it`);
  return priceAnswer(withdrawal.price);
}

/** Undefined goes back to the list price. */
function creditsOrDefault(text: string): number | undefined {
  return text === 'default' ? undefined : wholeNumber(1, maxCreditsPerSecond)(text);
}

function priceAnswer(price: SetPrice): Answer {
  return { json: presentSetPrice(price), lines: [priceLine(price)] };
}

function modelLine({ model, creditsPerSecond, nextPrices }: PresentedPrice): string {
  const coming = nextPrices.map((next) => `, ${next.creditsPerSecond} from ${iso(next.fromTime)}`).join('');
  return `${model}: ${creditsPerSecond} credits a second${coming}`;
}

function priceLine(price: SetPrice): string {
  const { priceId, model, accountId = 'everybody', creditsPerSecond = 'default', state, who, reason } = price;
  return [priceId, model, accountId, creditsPerSecond, iso(price.effectiveFrom), state, who, reason].join('  ');
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
