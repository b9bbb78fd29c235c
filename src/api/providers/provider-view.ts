import { z } from 'zod';
import { cooldownReasons, providerSwitchPositions } from '../../tasks/jobs/provider-pools-and-switches.ts';
import { unixMsSchema } from '../core/request-fields.ts';

const poolSchema = z.strictObject({
  pool: z
    .string()
    .meta({ description: 'The provider and the upstream model, which have a concurrency limit of their own.' }),
  limit: z
    .int()
    .nullable()
    .meta({ description: 'Concurrency limit; null when the catalogue no longer names the pool.' }),
  occupying: z.int().meta({ description: 'Jobs that run, or may run because a response was lost.' }),
  unanswered: z.int().meta({
    description:
      'Those of `occupying` whose create has no response. One whose response was lost takes its slot until its job is found or is certain not ' +
      'to exist: for one to two minutes where the upstream lists jobs, else for up to ten.',
  }),
  waiting: z.int().meta({ description: 'Tasks that wait for a slot.' }),
  oldestWaitMs: z.int().nullable(),
  consecutiveFailures: z.int().meta({ description: 'Each makes the next cooldown longer.' }),
  coolingReason: z.enum(cooldownReasons).nullable(),
  coolingMs: z.int().nullable().meta({ description: 'The rest of the cooldown; null without one.' }),
});

export const providerSchema = z
  .strictObject({
    provider: z.string(),
    kind: z.string().nullable().meta({ description: 'Null when the catalogue no longer names the provider.' }),
    origin: z.string().nullable().meta({ description: 'Null for the preview, which runs on our workers.' }),
    state: z.enum(providerSwitchPositions),
    reason: z.string().nullable(),
    who: z.string().nullable(),
    changeTime: unixMsSchema.nullable(),
    pools: z.array(poolSchema),
  })
  .meta({ id: 'Provider' });
