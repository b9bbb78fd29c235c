import { z } from 'zod';
import type { Caller } from '../../accounts/api-key.ts';
import type { HttpDeps } from '../../http/http-deps.ts';
import { modelOfAlias } from '../../models/model.ts';
import type { VideoRequest } from '../create-video.ts';
import { hostInlineMedia } from '../inline-media.ts';
import { sizesOf } from '../video-size.ts';

const any = z.unknown().optional();

/** For the reference; the parser of the model decides about values. Our own fields of `input` are taken by their names, too. */
export const createSchema = z.looseObject({
  model: any,
  prompt: any,
  seconds: any.meta({ description: 'The duration, such as `"4"`.' }),
  size: any.meta({ description: 'A size that the model sells, such as `1280x720`.' }),
  input_reference: any.meta({ description: 'An image: a file of the form, a URL or a data URL.' }),
});

/** OpenAI's names of our fields. */
export const theirNames = {
  'input.duration': 'seconds',
  'input.imageUrls': 'input_reference',
};

type CreateCall = { readonly caller: Caller; readonly input: Readonly<Record<string, unknown>> };

/** Translates a create request. Fields that are not OpenAI's are taken by our own names. */
export async function readOpenAIRequest({ caller, input }: CreateCall, deps: HttpDeps): Promise<VideoRequest> {
  const { model, size, seconds, input_reference: reference, ...others } = input;
  const { models } = deps.catalogue();
  const named = typeof model === 'string' ? models.get(modelOfAlias(models, model)) : undefined;
  const sizes = named === undefined ? undefined : sizesOf(named.input);
  const frame = typeof size === 'string' ? sizes?.get(size) : undefined;
  const isUnknownSize = size !== undefined && sizes !== undefined && frame === undefined;
  const media = await hostInlineMedia(deps, caller.accountId, { path: 'input_reference', value: reference });
  return {
    model,
    input: {
      ...others,
      ...frame,
      ...(seconds !== undefined && { duration: typeof seconds === 'string' ? Number(seconds) : seconds }),
      ...(media !== undefined && { imageUrls: [media] }),
    },
    errors: isUnknownSize ? [{ path: 'size', message: `must be one of ${[...(sizes?.keys() ?? [])].join(', ')}` }] : [],
  };
}
