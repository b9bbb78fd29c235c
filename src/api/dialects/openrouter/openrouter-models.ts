import { z } from 'zod';
import type { PresentedPrices } from '../../credits/price-view.ts';
import { aliasOf, type Model, type ModelCatalogue } from '../../../catalogue/models/model.ts';
import { standardPriceName } from '../../../catalogue/prices/price-conditions.ts';
import { durationsOf } from '../../../catalogue/input/input-bounds.ts';
import { sizesOf } from '../video-size.ts';
import { frameFields, frameTypes } from '../media-reference.ts';
import { theirResolutions } from './openrouter-request.ts';

const texts = z.array(z.string());

/** A model, as `@openrouter/sdk` 1.3.19 declares it. */
export const modelSchema = z
  .strictObject({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.literal(0).meta({ description: 'Unknown here.' }),
    supported_resolutions: texts,
    supported_aspect_ratios: texts,
    supported_sizes: texts,
    supported_durations: z.array(z.int()).meta({ description: 'Seconds.' }),
    supported_frame_images: z.array(z.enum(frameTypes)),
    generate_audio: z.boolean(),
    seed: z.boolean(),
    pricing_skus: z.record(z.string(), z.string()).meta({
      description: 'The prices in force for the account, in credits for a second and for a video, which add up.',
    }),
    allowed_passthrough_parameters: texts.meta({ description: 'Parameters of `provider.options.videogen`.' }),
    creativity: z.null(),
    upscale_factor: z.null(),
  })
  .meta({ id: 'OpenRouterModel' });

type Terms = { readonly models: ModelCatalogue; readonly prices: PresentedPrices['prices']; readonly now: number };

export function presentModel({ model, title, input }: Model, { models, prices, now }: Terms) {
  const { fields } = input;
  return {
    id: aliasOf(models, model),
    canonical_slug: model,
    name: title,
    created: 0 as const,
    supported_resolutions: fields.resolution.values.map((name) => theirResolutions[name] ?? name),
    supported_aspect_ratios: fields.ratio.values,
    supported_sizes: [...sizesOf(input).keys()],
    supported_durations: durationsOf(fields.duration),
    supported_frame_images: frameTypes.filter((type) => fields[frameFields[type]]),
    generate_audio: fields.generateAudio.fixed ?? true,
    seed: fields.seed !== undefined,
    pricing_skus: Object.fromEntries(prices.flatMap((price) => skusOf(price, now))),
    allowed_passthrough_parameters: [
      ...(fields.negativePrompt ? ['negative_prompt'] : []),
      ...Object.keys(fields.options ?? {}),
    ],
    creativity: null,
    upscale_factor: null,
  };
}

/** A price with conditions has its name before the unit. */
function skusOf({ name, rates }: PresentedPrices['prices'][number], now: number): readonly [string, string][] {
  const { creditsPerSecond = 0, creditsPerVideo = 0 } = rates.findLast(({ fromTime }) => fromTime <= now) ?? {};
  const prefix = name === standardPriceName ? '' : `${name}: `;
  const amounts = { credits_per_second: creditsPerSecond, credits_per_video: creditsPerVideo };
  return Object.entries(amounts).flatMap(([unit, credits]) => (credits > 0 ? [[prefix + unit, String(credits)]] : []));
}
