import { z } from 'zod';
import { type Model, shortfallPolicies } from '../models/model-type-and-name-lookup.ts';
import { costRuleSchema, type CostRule, currencySchema } from '../prices/upstream-cost.ts';
import {
  jobLimitSchema,
  onRefusedOutputSchema,
  providerNameSchema,
  providerSchema,
  type ProviderSettings,
} from './provider-schema.ts';
import { modelInputDeclarationSchema } from '../input/model-input-declaration-schema.ts';
import { type CreditPackage, packagesSchema } from './packages-schema.ts';
import { type ModelModeration, moderationSchema } from './moderation-schema.ts';
import { pricesSchema } from '../prices/prices-schema-and-file-rows.ts';
import { type InputRules, type Rules, rulesSchema } from '../models/input-rules.ts';
import { type ModelSample, sampleSchema } from '../models/model-sample.ts';

// The schema of the catalogue's file, and the values that it becomes.

export const maxDeadlineSeconds = 86_400;

const modelName = z
  .string()
  .regex(/^[\w./-]{1,100}$/, { error: 'must be 1 to 100 letters, digits, dots, slashes, dashes or underscores' });

const entry = z.strictObject({
  provider: z.string(),
  weight: z.int().min(1).max(1000).default(1).meta({ description: 'Share of the tasks within its tier.' }),
  model: z
    .string()
    .regex(/^[\x21-\x7e]{1,180}$/, { error: 'must be 1 to 180 characters without white space' })
    .optional()
    .meta({ description: "The upstream's name for the model; by default ours." }),
  parameters: z.record(z.string(), z.unknown()).default({}),
  limit: jobLimitSchema.optional(),
  rules: rulesSchema.optional(),
  cost: costRuleSchema.optional(),
  onRefusedOutput: onRefusedOutputSchema.optional(),
});

/** A client reads the bounds of a model in the schema of its input, so no rule of the model may hide another one. */
const declaredByInput: Readonly<Partial<Record<keyof Rules, string>>> = {
  durations: 'input.duration',
  resolutions: 'input.resolution',
  ratios: 'input.ratio',
  maxPromptCharacters: 'input.prompt.maxCharacters',
  maxNegativePromptCharacters: 'input.negativePrompt.maxCharacters',
  framesWithReferences: 'input.exclusive',
  lastFrameAlone: 'input.lastFrameUrl.requires',
};

function hiddenBounds({
  images,
  ...others
}: Rules): readonly (readonly [path: readonly string[], declaration: string])[] {
  const given: Readonly<Record<string, unknown>> = others;
  const named = Object.entries(declaredByInput).filter(([name]) => given[name] !== undefined);
  const counts = (['min', 'max'] as const).filter((name) => images?.[name] !== undefined);
  return [
    ...named.map(([name, by]) => [[name], by] as const),
    ...counts.map((name) => [['images', name], `input.imageUrls.${name}`] as const),
  ];
}

const model = z
  .strictObject({
    model: modelName,
    title: z.string().min(1).max(200),
    description: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Plain text for customers: the strengths of the model.' }),
    sample: sampleSchema.optional(),
    aliases: z.array(modelName).max(50).optional(),
    input: modelInputDeclarationSchema
      .optional()
      .meta({ description: 'Its fields; without it the six of the specification.' }),
    prices: pricesSchema,
    deadlineSeconds: z.int().min(10).max(maxDeadlineSeconds).default(1800),
    tiers: z
      .array(z.array(entry).min(1).max(10))
      .min(1)
      .max(5)
      .optional()
      .meta({ description: 'The providers: the first tier, while it is unavailable the second, and so on.' }),
    providers: z.array(z.string()).min(1).max(20).optional().meta({
      description: 'Short for tiers of one provider each that use our name for the model; preview without both.',
    }),
    rules: rulesSchema.optional(),
    moderation: moderationSchema.optional(),
    fit: z
      .enum(['keep', 'convert'])
      .default('keep')
      .meta({
        description:
          '`keep` stores videos in the size that the upstream gave them, and refuses those that are smaller than the resolution sold; ' +
          '`convert` scales and crops them to the size of resolution and ratio.',
      }),
    lastFrame: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether the last frame of videos is stored, too; its link is `resultJson.lastFrameUrl`.' }),
    shortfall: z
      .enum(shortfallPolicies)
      .default('fail')
      .meta({
        description:
          'For videos that are shorter than ordered, silent, of another ratio or smaller: `fail` refunds them in full, `refund` delivers ' +
          'them and refunds the difference of the price, `accept` delivers them at the full price.',
      }),
  })
  .superRefine((one, context) => {
    if (one.input === undefined) return;
    for (const [path, declaration] of hiddenBounds(one.rules ?? {})) {
      const message = `must be declared as ${declaration}, because this model has input`;
      context.addIssue({ code: 'custom', path: ['rules', ...path], message });
    }
  });

export const catalogueSchema = z.strictObject({
  $schema: z.string().optional(),
  creditValue: z
    .strictObject({ micros: z.int().min(0).max(1_000_000_000).default(5000), currency: currencySchema.default('USD') })
    .prefault({})
    .meta({ description: 'The value of a credit, in millionths of the currency; for the margin.' }),
  packages: packagesSchema,
  providers: z.record(providerNameSchema, providerSchema).default({}),
  models: z.array(model).min(1).max(100),
});

export type CatalogueData = z.output<typeof catalogueSchema>;

/** Returns the JSON Schema of the file, for editors. Rules that it cannot express are checked when the file is loaded. */
export function catalogueJsonSchema(): object {
  return { title: 'Catalogue of Videogen', ...z.toJSONSchema(catalogueSchema, { io: 'input' }) };
}

export type DefaultOfIgnoredField = string | number | boolean | null | readonly string[];

/** A provider that can generate a model. Plain JSON, so that it can be stored with the tasks that wait for it. */
export type TierEntry = {
  readonly provider: string;
  readonly upstreamModel: string;
  /** The provider with the upstream model, which has a limit of its own. */
  readonly pool: string;
  readonly weight: number;
  readonly limit: number;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The rules of kind, model, provider and entry together. */
  readonly rules: InputRules;
  /**
   * Fields that reach another upstream of the model and not this one, as `negativePrompt` or `options.NAME`, with the value of a request
   * that loses nothing here; null for none.
   */
  readonly ignores?: Readonly<Record<string, DefaultOfIgnoredField>>;
  readonly cost?: CostRule;
  /** Set if a video that the upstream refused for its content may be made once more. */
  readonly onRefusedOutput?: 'resubmit';
};

/** The terms for the failure, loss and cost of a job, which are frozen with it. */
export type JobFailureAndCostTerms = {
  readonly failedJobs: 'free' | 'billed';
  readonly onLostJob: 'fail' | 'resubmit';
  readonly onRefusedOutput?: 'resubmit' | undefined;
  readonly cost?: CostRule | undefined;
};

export type CatalogueModel = Model & {
  readonly tiers: readonly (readonly TierEntry[])[];
  readonly fit: 'keep' | 'convert';
  readonly lastFrame: boolean;
  readonly sample?: ModelSample | undefined;
  /** Undefined for the check of the installation. */
  readonly moderation?: ModelModeration | undefined;
  /** True if upstreams generate it, so that it needs no CPU of ours. */
  readonly isRemote: boolean;
};

export type WithCatalogueGetter = { readonly catalogue: () => Catalogue };

export type Catalogue = {
  readonly creditValue: { readonly micros: number; readonly currency: string };
  /** Credits for sale, by name, in the order of the file. */
  readonly packages: ReadonlyMap<string, CreditPackage>;
  /** Includes the built-in one. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly models: ReadonlyMap<string, CatalogueModel>;
  /** The contents of the files that the catalogue names. */
  readonly files: ReadonlyMap<string, unknown>;
};
