import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type ModelSample, sampleContentType } from '../../catalogue/models/model-sample.ts';
import type { CatalogueModel, WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { AppRouter } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';
import { sendFile } from '../core/server/send-file.ts';

/** Rendered by the built-in preview itself, whose pictures state that no AI model made them. */
const previewSample: ModelSample = {
  video: fileURLToPath(import.meta.resolve('#assets/preview-sample.mp4')),
  poster: fileURLToPath(import.meta.resolve('#assets/preview-sample.jpg')),
};

const path = '/model-samples';
const kinds = ['video', 'poster'] as const;

export const sampleViewSchema = z
  .strictObject({
    videoUrl: z.url().nullable(),
    posterUrl: z.url().nullable(),
    isPreview: z.boolean().meta({ description: 'True: made by the built-in preview, which is not an AI model.' }),
  })
  .nullable()
  .meta({ description: 'A video or still that the model made; null without a sample in the catalogue.' });

export function presentSample(model: CatalogueModel, { publicUrl }: { readonly publicUrl: string }) {
  const sample = sampleOf(model);
  if (sample === undefined) return null;
  const [videoUrl, posterUrl] = kinds.map((kind) =>
    sample[kind] === undefined
      ? null
      : `${publicUrl}${path}?${new URLSearchParams({ model: model.model, file: kind }).toString()}`,
  );
  return { videoUrl: videoUrl ?? null, posterUrl: posterUrl ?? null, isPreview: sample === previewSample };
}

function sampleOf({ sample, isRemote }: CatalogueModel): ModelSample | undefined {
  return sample ?? (isRemote ? undefined : previewSample);
}

/** Serves the samples without a key, because a browser's media elements send no headers. No part of a request becomes a path. */
export function addSampleRoute(router: AppRouter, { catalogue }: WithCatalogueGetter): void {
  router.get(path, async (ctx) => {
    const query = new URLSearchParams(ctx.querystring);
    const model = catalogue().models.get(query.get('model') ?? '');
    const kind = kinds.find((one) => one === query.get('file'));
    const file = model && kind && sampleOf(model)?.[kind];
    if (file === undefined) throw new HttpError('media_missing');
    ctx.set({
      'Content-Type': sampleContentType(file) ?? 'application/octet-stream',
      'Cache-Control': 'public, max-age=300',
    });
    ctx.set({ 'X-Content-Type-Options': 'nosniff', 'Cross-Origin-Resource-Policy': 'cross-origin' });
    await sendFile(ctx, { root: dirname(file), path: basename(file) });
  });
}
