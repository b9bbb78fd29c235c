import { z } from 'zod';
import type { Catalogue, WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { CatalogueLoadStatus } from '../../catalogue/file/live-catalogue.ts';
import { listLiveWorkerReports } from '../../catalogue/models/worker-report-rows.ts';
import { unservedModels } from '../../catalogue/models/models-served-by-workers.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { unixMsSchema } from '../core/request-fields.ts';

const amounts = z.strictObject({ creditsPerSecond: z.int(), creditsPerVideo: z.int(), fromTime: unixMsSchema });

const modelSchema = z.strictObject({
  model: z.string(),
  title: z.string(),
  prices: z
    .array(z.strictObject({ name: z.string(), amounts: z.array(amounts) }))
    .meta({ description: 'Those of the file; prices that operators have set replace their amounts.' }),
  providers: z
    .array(
      z.strictObject({
        tier: z.int().meta({ description: 'From 1: the second tier is used while the first one is unavailable.' }),
        provider: z.string(),
        upstreamModel: z.string(),
        limit: z.int(),
        weight: z.int(),
      }),
    )
    .meta({ description: 'In the order in which they are tried.' }),
  deadlineMs: z.int(),
});

const providerSchema = z.strictObject({
  provider: z.string(),
  kind: z.string(),
  origin: z.string().nullable().meta({ description: 'Null for the preview, which runs on our workers.' }),
  models: z.int().meta({ description: 'The number of models that it generates.' }),
});

/** `catalogueState`: which catalogue is in force, and since when. */
type Deps = WithDb & WithCatalogueGetter & { readonly catalogueState: () => CatalogueLoadStatus };

export const adminShowCatalogue = defineEndpoint({
  operationId: 'adminShowCatalogue',
  route: 'GET /api/admin/v1/catalogue',
  summary: 'Show the catalogue in force',
  description:
    'Each API process returns the catalogue that it has loaded. It contains no secrets, and no parameters of providers.',
  data: z
    .strictObject({
      path: z.string().nullable().meta({ description: 'The file; null for the built-in catalogue.' }),
      version: z.string().meta({ description: 'A digest of the file and of those that it refers to.' }),
      loadTime: unixMsSchema,
      refused: z
        .strictObject({ time: unixMsSchema, problems: z.array(z.string()) })
        .nullable()
        .meta({ description: 'Why the file on disk is invalid; null if it is in force.' }),
      workerRefusals: z.array(z.string()).meta({ description: 'Why live workers refused it.' }),
      notSold: z.array(z.string()).meta({ description: 'Models that no live worker can generate.' }),
      models: z.array(modelSchema),
      providers: z.array(providerSchema),
    })
    .meta({ id: 'LoadedCatalogue' }),
  handler: async (_call, { db, catalogue, catalogueState }: Deps) => {
    const { path = null, version, loadedAt: loadTime, refused } = catalogueState();
    const current = catalogue();
    const reports = await listLiveWorkerReports(db);
    return {
      path,
      version,
      loadTime,
      refused: refused === undefined ? null : { time: refused.at, problems: refused.problems },
      workerRefusals: [...new Set(reports.flatMap(({ refusal }) => refusal ?? []))],
      notSold: unservedModels(current, reports),
      models: modelsOf(current),
      providers: providersOf(current),
    };
  },
});

function modelsOf({ models }: Catalogue) {
  return [...models.values()].map(({ model, title, prices, tiers, deadlineMs }) => ({
    model,
    title,
    deadlineMs,
    prices: prices.map(({ name, amounts: all }) => ({
      name,
      amounts: all.map(({ fromMs: fromTime, creditsPerSecond, creditsPerVideo }) => {
        return { fromTime, creditsPerSecond, creditsPerVideo };
      }),
    })),
    providers: tiers.flatMap((tier, index) =>
      tier.map(({ provider, upstreamModel, limit, weight }) => {
        return { tier: index + 1, provider, upstreamModel, limit, weight };
      }),
    ),
  }));
}

function providersOf({ models, providers }: Catalogue) {
  const used = [...models.values()].map(({ tiers }) => new Set(tiers.flat().map(({ provider }) => provider)));
  return [...providers].map(([provider, settings]) => ({
    provider,
    kind: settings.kind,
    origin: settings.kind === 'preview' ? null : new URL(settings.baseUrl).origin,
    models: used.filter((names) => names.has(provider)).length,
  }));
}
