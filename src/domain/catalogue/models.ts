import { z } from 'zod';
import type { Model, Offer } from '../models.ts';
import { costRule, type CostRule, currency } from './cost.ts';
import { always, type Fault, check, fieldOf, itemsOf, unknownName } from './faults.ts';
import {
  jobLimit,
  parameterSchemas,
  providerName,
  providerSchema,
  type ProviderSettings,
  type Lookups,
} from './providers.ts';
import { type InputRules, rules } from './rules.ts';

// What is sold, and the whole catalogue: the schema of its file, and what becomes of it.

const modelName = z
  .string()
  .regex(/^[\w./-]{1,100}$/, { error: 'must be 1 to 100 letters, digits, dots, slashes, dashes or underscores' });

const price = z.strictObject({
  creditsPerSecond: z.int().min(1).max(1_000_000),
  from: z.iso
    .datetime({ offset: true, error: 'must be an instant, such as 2027-01-01T00:00:00Z' })
    .default('1970-01-01T00:00:00Z'),
});

const prices = z
  .array(price)
  .min(1)
  .max(1000)
  .refine((all) => new Set(all.map(({ from }) => Date.parse(from))).size === all.length, {
    error: 'must not have two prices from the same instant',
  })
  .refine((all) => all.some(({ from }) => Date.parse(from) <= Date.now()), { error: 'must have a price in force' });

function providerRef({ kinds }: Lookups) {
  return z.string().superRefine((name, context) => {
    if (kinds.has(name)) return;
    context.addIssue({ code: 'custom', message: unknownName('provider', name, [...kinds.keys()]) });
  });
}

type EntryLookups = Lookups & { readonly parameters: ReturnType<typeof parameterSchemas> };

function entry(lookups: EntryLookups) {
  return z
    .strictObject({
      provider: providerRef(lookups),
      weight: z.int().min(1).max(1000).default(1).meta({ description: 'Share of the tasks within its tier.' }),
      model: z
        .string()
        .regex(/^[\x21-\x7e]{1,180}$/, { error: 'must be 1 to 180 characters without white space' })
        .optional()
        .meta({ description: "The upstream's name for the model; our own without it." }),
      parameters: z.record(z.string(), z.unknown()).default({}),
      limit: jobLimit.optional(),
      rules: rules.optional(),
      cost: costRule.optional(),
    })
    .superRefine((one, context) => {
      const faults = parameterFaults(lookups, fieldOf(one, 'provider'), fieldOf(one, 'parameters') ?? {});
      for (const { path, message } of faults)
        context.addIssue({ code: 'custom', path: ['parameters', ...path], message });
    }, always);
}

function parameterFaults(lookups: EntryLookups, provider: unknown, parameters: unknown): readonly Fault[] {
  const schema = fieldOf(lookups.parameters, String(lookups.kinds.get(String(provider))));
  return schema instanceof z.ZodType ? check(schema, parameters).faults : [];
}

function model(lookups: EntryLookups) {
  return z
    .strictObject({
      model: modelName,
      title: z.string().min(1).max(200),
      aliases: z.array(modelName).max(50).optional(),
      prices,
      deadlineSeconds: z.int().min(10).max(86_400).default(1800),
      tiers: z
        .array(z.array(entry(lookups)).min(1).max(10))
        .min(1)
        .max(5)
        .optional()
        .meta({ description: 'Who generates: the first tier, while it cannot the second, and so on.' }),
      providers: z.array(providerRef(lookups)).min(1).max(20).optional().meta({
        description: 'Short for tiers of one provider each that know the model by our name; preview without both.',
      }),
      rules: rules.optional(),
      fit: z
        .enum(['keep', '720p'])
        .default('keep')
        .meta({ description: 'Whether videos keep the size that the upstream gave them.' }),
    })
    .superRefine((one, context) => {
      for (const { path, message } of modelFaults(lookups, one))
        context.addIssue({ code: 'custom', path: [...path], message });
    }, always);
}

/** What the fields of a model say against each other; they may be faulty in themselves. */
function modelFaults(lookups: EntryLookups, one: unknown): readonly Fault[] {
  const has = (name: string) => fieldOf(one, name) !== undefined;
  const short = itemsOf(fieldOf(one, 'providers'));
  const entries = itemsOf(fieldOf(one, 'tiers')).flatMap((tier, row) =>
    itemsOf(tier).map((each, column) => ({
      path: ['tiers', row, column],
      provider: fieldOf(each, 'provider'),
      model: fieldOf(each, 'model') ?? fieldOf(one, 'model'),
    })),
  );
  const providers = [...short, ...entries.map(({ provider }) => provider)];
  const kinds = new Set(providers.map((name) => lookups.kinds.get(String(name))).filter((kind) => kind !== undefined));
  const pools = entries.map((each) => JSON.stringify([each.provider, each.model]));
  const fault = (isFault: boolean, path: Fault['path'], message: string) => (isFault ? [{ path, message }] : []);
  return [
    ...fault(has('tiers') && has('providers'), ['providers'], 'must not stand beside tiers; use one of them'),
    ...fault(kinds.has('preview') && kinds.size > 1, [has('tiers') ? 'tiers' : 'providers'], mixedProviders),
    ...entries.flatMap(({ path }, index) =>
      fault(pools.indexOf(pools[index] ?? '') < index, path, 'has the provider and upstream model of an earlier entry'),
    ),
    ...short.flatMap((name, row) =>
      parameterFaults(lookups, name, {}).map(() => ({
        path: ['providers', row],
        message: 'needs parameters; use tiers',
      })),
    ),
  ];
}

const mixedProviders = 'must not mix the preview, which runs on our workers, with upstreams';

/** The schema of the file. Its faults are found all together, also those between faulty parts. */
export function catalogueSchema(lookups: Lookups) {
  return z.strictObject({
    $schema: z.string().optional(),
    creditValue: z
      .strictObject({ micros: z.int().min(0).max(1_000_000_000).default(5000), currency: currency.default('USD') })
      .prefault({})
      .meta({ description: 'What a credit is sold for, in millionths of the currency; for the margin.' }),
    providers: z.record(providerName, providerSchema(lookups)).default({}),
    models: z
      .array(model({ ...lookups, parameters: parameterSchemas(lookups) }))
      .min(1)
      .max(100)
      .superRefine((all, context) => {
        const names = itemsOf(all).flatMap((one, index) => [
          { path: [index, 'model'], name: fieldOf(one, 'model') },
          ...itemsOf(fieldOf(one, 'aliases')).map((name, at) => ({ path: [index, 'aliases', at], name })),
        ]);
        const message = 'is used twice; names and aliases of models must differ from all others';
        const seen = new Set<unknown>([undefined]);
        for (const { path, name } of names) {
          if (seen.has(name) && name !== undefined) context.addIssue({ code: 'custom', path, message });
          seen.add(name);
        }
      }, always),
  });
}

/** The JSON Schema of the file, for editors: what this service cannot say in it is found when the file is loaded. */
export function catalogueJsonSchema(): object {
  const schema = catalogueSchema({ kinds: new Map(), fileFault: () => undefined, secretFault: () => undefined });
  return { title: 'Catalogue of Videogen', ...z.toJSONSchema(schema, { io: 'input' }) };
}

/** A way to generate a model. Plain JSON, so that it can be stored with the tasks that wait for it. */
export type TierEntry = {
  readonly provider: string;
  readonly upstreamModel: string;
  /** The provider with the upstream model: what has a limit of its own. */
  readonly pool: string;
  readonly weight: number;
  readonly limit: number;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Those of model, provider, entry and kind together. */
  readonly rules: InputRules;
  readonly cost?: CostRule;
};

export type CatalogueModel = Model & {
  readonly tiers: readonly (readonly TierEntry[])[];
  readonly fit: 'keep' | '720p';
  /** Whether upstreams generate it, so that it needs none of our processors. */
  readonly isRemote: boolean;
};

export type Catalogue = Pick<Offer, 'limits'> & {
  readonly creditValue: { readonly micros: number; readonly currency: string };
  /** Also those that our workers bring along. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly models: ReadonlyMap<string, CatalogueModel>;
  /** What is in the files that it refers to, by the names that it uses. */
  readonly files: ReadonlyMap<string, unknown>;
};
