import { z } from 'zod';
import { operatorUrlSchema, secretRefSchema } from './provider-schema.ts';

// The check of a create's content before its charge, by an HTTP endpoint of the operator's choice.

export const hookErrorChoices = ['allow', 'refuse'] as const;
export const moderationHookShapes = ['openai', 'plain'] as const;

export const hookDefaults = {
  seconds: 5,
  onError: 'refuse',
  concurrency: 32,
  model: 'omni-moderation-latest',
} as const;
export const maxHookSeconds = 30;
export const maxHookConcurrency = 1000;

const common = {
  url: operatorUrlSchema,
  key: secretRefSchema.optional(),
  timeoutSeconds: z.int().min(1).max(maxHookSeconds).default(hookDefaults.seconds),
  onError: z
    .enum(hookErrorChoices)
    .default(hookDefaults.onError)
    .meta({ description: 'Whether creates are accepted while the endpoint does not give a usable answer in time.' }),
  concurrency: z.int().min(1).max(maxHookConcurrency).default(hookDefaults.concurrency).meta({
    description: 'The limit of requests at the same time, of each API process.',
  }),
};

export const moderationSchema = z
  .discriminatedUnion('shape', [
    z.strictObject({
      shape: z.literal('openai'),
      ...common,
      model: z.string().min(1).max(200).default(hookDefaults.model),
    }),
    z.strictObject({ shape: z.literal('plain'), ...common }),
    z.strictObject({ shape: z.literal('none') }),
  ])
  .meta({
    description:
      'Checks prompt and images before a create is charged, instead of the check of the installation: an endpoint in the shape of ' +
      "OpenAI's `/v1/moderations`, a `plain` one that answers `{allow, reason}`, or `none`.",
  });

export type ModelModeration = z.output<typeof moderationSchema>;
