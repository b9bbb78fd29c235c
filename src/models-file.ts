import { z } from 'zod';
import { defaultModels, type Model } from './domain/models.ts';

const price = z.strictObject({
  creditsPerSecond: z.int().min(1).max(1_000_000),
  from: z.iso.datetime({ offset: true }).default('1970-01-01T00:00:00Z'),
});

const name = z.string().regex(/^[\w./-]{1,100}$/);

const model = z.strictObject({
  model: name,
  title: z.string().min(1).max(200),
  aliases: z.array(name).max(50).optional(),
  prices: z.array(price).min(1).max(1000),
  providers: z.array(z.string()).min(1).max(20).default(['preview']),
  deadlineSeconds: z
    .int()
    .min(10)
    .max(24 * 60 * 60)
    .default(30 * 60),
});

const modelsFile = z
  .strictObject({ models: z.array(model).min(1).max(100) })
  .refine(({ models }) => namesOf(models).length === new Set(namesOf(models)).size, {
    error: 'uses a name of a model twice; names and aliases must differ from all others',
  })
  .refine(({ models }) => models.every(isUnambiguous), { error: 'gives a model two prices from the same instant on' })
  .refine(({ models }) => models.every(hasPriceInForce), { error: 'has a model without a price in force' });

/**
 * Reads the catalogue file of VIDEOGEN_MODELS: `{"models": [{"model", "title", "prices": [{"creditsPerSecond", "from"}],
 * "aliases", "providers", "deadlineSeconds"}]}`, `from` being an ISO 8601 instant. A model of ours without `aliases` has
 * the built-in ones that the file does not use otherwise. Throws an error that names every bad entry.
 */
export function parseModelsFile(text: string): readonly Model[] {
  const parsed = modelsFile.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const taken = namesOf(parsed.data.models);
  return parsed.data.models.map(({ aliases, prices, deadlineSeconds, ...rest }) => ({
    ...rest,
    aliases: aliases ?? builtInAliases(rest.model).filter((alias) => !taken.includes(alias)),
    prices: prices.map(({ creditsPerSecond, from }) => ({ creditsPerSecond, fromMs: Date.parse(from) })),
    deadlineMs: deadlineSeconds * 1000,
  }));
}

/** Every name that the file gives, as often as it gives it. */
function namesOf(models: readonly z.output<typeof model>[]): readonly string[] {
  return models.flatMap(({ model: own, aliases = [] }) => [own, ...aliases]);
}

function builtInAliases(own: string): readonly string[] {
  return defaultModels.find((builtIn) => builtIn.model === own)?.aliases ?? [];
}

function isUnambiguous({ prices }: z.output<typeof model>): boolean {
  return new Set(prices.map(({ from }) => Date.parse(from))).size === prices.length;
}

function hasPriceInForce({ prices }: z.output<typeof model>): boolean {
  return prices.some(({ from }) => Date.parse(from) <= Date.now());
}
