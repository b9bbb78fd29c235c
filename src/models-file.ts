import { z } from 'zod';
import type { Model } from './domain/models.ts';

const rate = z.strictObject({
  creditsPerSecond: z.int().min(1).max(1_000_000),
  from: z.iso.datetime({ offset: true }).default('1970-01-01T00:00:00Z'),
});

const model = z.strictObject({
  model: z.string().regex(/^[\w./-]{1,100}$/),
  title: z.string().min(1).max(200),
  rates: z.array(rate).min(1).max(1000),
  providers: z.array(z.string()).min(1).max(20).default(['preview']),
  deadlineSeconds: z
    .int()
    .min(10)
    .max(24 * 60 * 60)
    .default(30 * 60),
});

const modelsFile = z
  .strictObject({ models: z.array(model).min(1).max(100) })
  .refine(({ models }) => new Set(models.map((entry) => entry.model)).size === models.length, {
    error: 'names a model twice',
  })
  .refine(({ models }) => models.every(isUnambiguous), { error: 'gives a model two rates from the same instant on' })
  .refine(({ models }) => models.every(hasRateInForce), { error: 'has a model without a rate in force' });

/**
 * Reads the catalogue file of VIDEOGEN_MODELS: `{"models": [{"model", "title", "rates": [{"creditsPerSecond", "from"}],
 * "providers", "deadlineSeconds"}]}`, `from` being an ISO 8601 instant. Throws an error that names every bad entry.
 */
export function parseModelsFile(text: string): readonly Model[] {
  const parsed = modelsFile.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return parsed.data.models.map(({ rates, deadlineSeconds, ...rest }) => ({
    ...rest,
    rates: rates.map(({ creditsPerSecond, from }) => ({ creditsPerSecond, fromMs: Date.parse(from) })),
    deadlineMs: deadlineSeconds * 1000,
  }));
}

function isUnambiguous({ rates }: z.output<typeof model>): boolean {
  return new Set(rates.map(({ from }) => Date.parse(from))).size === rates.length;
}

function hasRateInForce({ rates }: z.output<typeof model>): boolean {
  return rates.some(({ from }) => Date.parse(from) <= Date.now());
}
