import { z } from 'zod';
import { isClearlyBelowResolution } from '../media/frame-size.ts';
import { defaultOf, type ModelInput } from './task-input.ts';
import { resolutions } from './resolutions-ratios-and-field-bounds.ts';
import type { CatalogueModel } from '../file/catalogue-schema-and-types.ts';
import { tierEntriesWithPaths, type FileProblem } from '../file/file-data-and-problems.ts';
import { declaresParameter, type ProviderKind } from '../file/provider-schema.ts';

// `width` and `height` among the parameters of an entry: the size in which its upstream makes 16:9 at the model's default resolution.

const sizeSchema = z.object({ width: z.int(), height: z.int(), resolution: z.enum(resolutions).optional() });

type Parameters = Readonly<Record<string, unknown>>;

/** Adds the resolution to which the size belongs, for the adapters; 720p is left out. */
export function withResolutionOfOwnSize(kind: ProviderKind, parameters: Parameters, input?: ModelInput): Parameters {
  const hasOwnSize = declaresParameter(kind, 'width') && sizeSchema.safeParse(parameters).success;
  if (input === undefined || !hasOwnSize) return parameters;
  const resolution = defaultOf(input, 'resolution');
  return resolution === '720p' ? parameters : { ...parameters, resolution };
}

/** Every video of such an entry would be refused after it was paid for. */
export function upstreamSizeProblems(
  models: readonly CatalogueModel[],
  kindOf: (provider: string) => ProviderKind | undefined,
) {
  return tierEntriesWithPaths(models).flatMap(({ entry: { provider, parameters }, model, path }): FileProblem[] => {
    const { data } = sizeSchema.safeParse(parameters);
    if (model.fit !== 'keep' || data === undefined || !declaresParameter(kindOf(provider), 'width')) return [];
    const { width, height, resolution = '720p' } = data;
    if (!isClearlyBelowResolution(resolution, { widthPx: width, heightPx: height })) return [];
    const message = `${width} × ${height} is smaller than the ${resolution} of the model; enlarge it, or set fit: convert`;
    return [{ path: [...path, 'parameters'], message }];
  });
}
