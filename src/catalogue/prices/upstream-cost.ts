import { z } from 'zod';
import { matchesConditions, type PricedInput } from './model-prices.ts';
import { priceConditionsSchema } from './prices-schema-and-file-rows.ts';
import { frameSize } from '../media/frame-size.ts';
import type { TaskInput } from '../input/task-input.ts';

// The cost of upstream jobs. Amounts are whole micro-units of a currency: 1,000,000 are one dollar.

export const currencySchema = z.string().regex(/^[A-Z]{3}$/, { error: 'must be three capital letters, such as USD' });

const decimalError = 'must be a decimal number from 0 to 999999.999999, such as 0.2419';

/**
 * A decimal in whole millionths. Its digits are taken from its text, so no binary fraction takes part; a number that YAML or JSON
 * has read prints the same digits again as long as there are at most 15, and six decimals are the finest that it prints plainly.
 */
const decimal = z.union([z.number(), z.string()], { error: decimalError }).transform((value, context) => {
  const [, whole, fraction = ''] = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(String(value)) ?? [];
  if (whole !== undefined) return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, '0'));
  context.addIssue({ code: 'custom', message: decimalError });
  return z.NEVER;
});

const amounts = {
  perJob: decimal.optional(),
  perSecond: decimal.optional().meta({ description: 'The price of a second of video.' }),
  perMillionTokens: decimal
    .optional()
    .meta({ description: 'Tokens that the upstream reports, else width × height × 24 / 1024 a second.' }),
  perGpuSecond: decimal
    .optional()
    .meta({ description: 'The price of a second from the acceptance of the job to its end.' }),
};

type Amounts = { readonly [Name in keyof typeof amounts]: number | undefined };

function hasAmount({ perJob, perSecond, perMillionTokens, perGpuSecond }: Partial<Amounts>): boolean {
  return [perJob, perSecond, perMillionTokens, perGpuSecond].some((price) => price !== undefined);
}

const noAmount = {
  error: 'must have at least one of perJob, perSecond, perMillionTokens and perGpuSecond; free is perJob: 0',
};

/** Prices of an upstream; several add up. */
export const costRuleSchema = z
  .strictObject({
    currency: currencySchema.default('USD'),
    ...amounts,
    cases: z
      .array(z.strictObject({ when: priceConditionsSchema, ...amounts }).refine(hasAmount, noAmount))
      .min(1)
      .max(100)
      .optional()
      .meta({
        description:
          'Prices that replace the others for inputs that match, as in the prices of a model; the first one counts.',
      }),
  })
  .refine(hasAmount, noAmount)
  .meta({ id: 'Cost' });

export type CostRule = z.output<typeof costRuleSchema>;

export type EstimatedCost = { readonly micros: number; readonly currency: string; readonly basis: 'estimated' };

/** The usage of a job: its input, and after its end its time and perhaps its tokens. */
export type JobInputAndUsage = {
  readonly input: Pick<TaskInput, 'resolution' | 'duration' | 'ratio'> & PricedInput;
  readonly tokens?: number;
  readonly gpuMs?: number;
};

/** The job's cost by the rule; undefined where the rule needs a time that is not known yet. Half a micro-unit is rounded up. */
export function estimateCost(rule: CostRule, { input, gpuMs, tokens }: JobInputAndUsage): EstimatedCost | undefined {
  const applied = rule.cases?.find(({ when }) => matchesConditions(when, input)) ?? rule;
  const { perJob = 0, perSecond = 0, perMillionTokens = 0, perGpuSecond } = applied;
  if (perGpuSecond !== undefined && gpuMs === undefined) return undefined;
  const micros =
    BigInt(perJob) +
    BigInt(perSecond) * BigInt(input.duration) +
    share(perMillionTokens, tokens ?? estimatedTokens(input), 1_000_000n) +
    share(perGpuSecond ?? 0, gpuMs ?? 0, 1000n);
  return { micros: Number(micros), currency: rule.currency, basis: 'estimated' };
}

/** `price` for each `unit` of `amount`. */
function share(price: number, amount: number, unit: bigint): bigint {
  return (BigInt(price) * BigInt(Math.round(amount)) + unit / 2n) / unit;
}

/** Video models that sell tokens count them so; `adaptive` is taken for the size that it has without an image. */
function estimatedTokens({ resolution, duration, ratio }: JobInputAndUsage['input']): number {
  const { widthPx, heightPx } = frameSize(resolution, ratio, undefined);
  return (widthPx * heightPx * 24 * duration) / 1024;
}
