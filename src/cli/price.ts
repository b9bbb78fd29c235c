import type { Command } from 'commander';
import { type PresentedPrices, presentPrices, presentSetPrice } from '../credits/price-view.ts';
import { addCommand, sampleAccount } from './add-command.ts';
import { accountIdOrName, instant, textUpTo, wholeNumber } from './arguments.ts';
import { type Answer, CommandError, isoTime, notFound } from './output.ts';
import { commandLineActor, type Context, noAccount, requireAccount, type RunOnDatabase } from './run-command.ts';
import { findPrice, type ModelCatalogue, unknownModel } from '../models/model.ts';
import { maxPriceCredits } from '../models/price-rows.ts';
import {
  listPrices,
  maxReasonLength,
  type SetPrice,
  setPriceAs,
  wasPriceSet,
  withdrawPriceAs,
} from '../credits/prices.ts';

const maxListed = 100;

export function addPriceCommands(program: Command, run: RunOnDatabase): void {
  const price = addCommand(program, 'price').description('list and set the prices of models');
  const reason = [
    '--reason <text>',
    `reason, at most ${maxReasonLength} characters`,
    textUpTo(maxReasonLength),
  ] as const;
  addCommand(price, 'list', '', `--account ${sampleAccount} --model videogen-2.0`)
    .description('list the prices in force, and price changes, newest first')
    .option('--account <account>', 'prices of this account; by default, list prices', accountIdOrName)
    .option('--model <model>', 'only changes of this model')
    .action(run(list));
  addCommand(
    price,
    'set',
    'videogen-2.0 45 --from 2027-01-01T00:00:00Z --reason "new list price"',
    'videogen-2.0 40 --price standard --per-video 10 --reason "a fee for each video"',
    `videogen-2.0 default --account ${sampleAccount} --reason "contract 17 ended"`,
  )
    .description('set a price for tasks created from a time on')
    .argument('<model>', 'such as videogen-2.0')
    .argument('<credits>', 'credits per second; `default` restores the list price', creditsOrDefault)
    .option('--price <name>', 'name of the price, for a model with several')
    .option('--per-video <credits>', 'credits added once for each video', wholeNumber(0, maxPriceCredits))
    .option('--account <account>', 'only for this account; by default, for all accounts', accountIdOrName)
    .option('--from <when>', 'a time, or a span from now such as 30d; by default, in a few seconds', instant)
    .requiredOption(...reason)
    .action(run(set));
  addCommand(price, 'withdraw', '12 --reason "contract cancelled"')
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
  const lines = [...models.flatMap(modelLines), ...prices.map(priceLine)];
  return { json: { models, prices: prices.map(presentSetPrice) }, lines };
}

type SetOptions = { account?: string; from?: number; reason: string; price?: string; perVideo?: number };

async function set(
  { db, config }: Context,
  model: string,
  creditsPerSecond: number | undefined,
  { account: accountId, from: fromMs, reason, price, perVideo }: SetOptions,
): Promise<Answer> {
  const { models } = config.catalogue;
  const priceName = await namedPrice(db, models, { model, price, isEnd: creditsPerSecond === undefined });
  if (creditsPerSecond === undefined && perVideo !== undefined)
    throw new CommandError('--per-video cannot be combined with `default`');
  if (creditsPerSecond === 0 && (perVideo ?? 0) === 0)
    throw new CommandError('credits per second must be at least 1, or --per-video must be');
  const setting = await setPriceAs(db, commandLineActor(), {
    model,
    priceName,
    accountId,
    creditsPerSecond,
    creditsPerVideo: creditsPerSecond === undefined ? undefined : (perVideo ?? 0),
    fromMs,
    reason,
  });
  if (setting.kind === 'account_not_found') throw noAccount(accountId ?? '');
  if (setting.kind === 'in_the_past') throw new CommandError('--from must not be in the past');
  return priceAnswer(setting.price);
}

/** A price that has left the catalogue can only be ended. */
async function namedPrice(
  db: Context['db'],
  models: ModelCatalogue,
  { model, price, isEnd }: { readonly model: string; readonly price: string | undefined; readonly isEnd: boolean },
): Promise<string> {
  const found = findPrice(models, model, price);
  if (found.ok) return found.name;
  if (isEnd && price !== undefined && (await wasPriceSet(db, { model, priceName: price }))) return price;
  const problem = unknownModel(models, model);
  throw new CommandError(problem === undefined ? `--price: ${found.message}` : `${model}: ${problem}`);
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
  return text === 'default' ? undefined : wholeNumber(0, maxPriceCredits)(text);
}

function priceAnswer(price: SetPrice): Answer {
  return { json: presentSetPrice(price), lines: [priceLine(price)] };
}

/** One line for each price, in the order in which they are decided. */
function modelLines({ model, prices }: PresentedPrices): readonly string[] {
  return prices.map(({ name, rates }) => {
    const changes = rates.map((rate) => {
      const from = rate.fromTime > Date.now() ? ` from ${isoTime(rate.fromTime)}` : '';
      return `${amountText(rate)}${from}`;
    });
    return `${model}, ${name}: ${changes.join(', ')}`;
  });
}

function amountText({ creditsPerSecond, creditsPerVideo }: { creditsPerSecond: number; creditsPerVideo: number }) {
  const perSecond = creditsPerSecond > 0 ? [`${creditsPerSecond} credits per second`] : [];
  const perVideo = creditsPerVideo > 0 ? [`${creditsPerVideo} credits per video`] : [];
  return [...perSecond, ...perVideo].join(' plus ');
}

function priceLine(price: SetPrice): string {
  const { priceId, model, priceName, accountId = 'all accounts', creditsPerSecond, creditsPerVideo = 0, who } = price;
  const amount = creditsPerSecond === undefined ? 'default' : amountText({ creditsPerSecond, creditsPerVideo });
  const { state, reason } = price;
  return [priceId, model, priceName, accountId, amount, isoTime(price.effectiveFrom), state, who, reason].join('  ');
}
