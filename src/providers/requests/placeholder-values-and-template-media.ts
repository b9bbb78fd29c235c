import type { JsonValue, JsonObject } from '../../platform/text/json.ts';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { frameSizeForUpstream } from '../../catalogue/media/frame-size.ts';
import {
  type MediaByRole,
  type MediaRole,
  mediaRoles,
  noMedia,
  type PreparedMediaByRole,
} from '../../catalogue/media/media-by-role.ts';
import { resolutions } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { mediaFields, type TaskInput } from '../../catalogue/input/task-input.ts';
import { type PlaceholderValues, usesPlaceholder } from '../../catalogue/providers/input-template-placeholders.ts';
import type { FrozenConfig, JobRequest } from '../provider-contract.ts';
import { adaptiveRatioImage, mediaOfRoles } from './media-by-role-and-data-urls.ts';

// The values of a task in placeholders and bodies of requests.

/** The size among the parameters of an upstream model, and the resolution to which it belongs. */
export const sizeParameterSchemas = {
  width: z.int().optional(),
  height: z.int().optional(),
  resolution: z.enum(resolutions).optional(),
};
const parametersSchema = z.object({ ...sizeParameterSchemas, fps: z.int().default(24) });

/** The values of a task; the media are in the form of the upstream, made from those that `fetchMediaOfTemplate` returned. */
export function taskPlaceholderValues(
  request: JobRequest,
  { options }: FrozenConfig,
  shape: PreparedMediaByRole,
  media: MediaByRole<JsonValue>,
): PlaceholderValues {
  const parameters = parametersSchema.parse(options['parameters'] ?? {});
  return {
    input: request.input,
    seed: seedOf(request),
    size: frameSizeForUpstream(request.input, adaptiveRatioImage(shape), parameters),
    fps: parameters.fps,
    media,
    prefix: jobFilePrefix(request),
  };
}

const placeholdersOfRole = {
  images: ['image', 'images'],
  firstFrame: ['firstFrame'],
  lastFrame: ['lastFrame'],
  videos: ['video', 'videos'],
  audios: ['audio', 'audios'],
} as const satisfies Record<MediaRole, Parameters<typeof usesPlaceholder>[1]>;

/** Fetches the media that a template uses: those of the roles in it, and the leading image if it gives the size of the video. */
export async function fetchMediaOfTemplate(
  template: unknown,
  { input, media }: Pick<JobRequest, 'input' | 'media'>,
): Promise<{ readonly used: PreparedMediaByRole; readonly shape: PreparedMediaByRole }> {
  const isUsed = (role: MediaRole) => usesPlaceholder(template, placeholdersOfRole[role]);
  const needsShape = input.ratio === 'adaptive' && usesPlaceholder(template, ['width', 'height']);
  if (!needsShape && !mediaRoles.some(isUsed)) return { used: noMedia, shape: noMedia };
  const all = await media();
  return { used: mediaOfRoles(all, isUsed), shape: all };
}

/** The seed of the request. One without depends on the name alone, so that a repeated create under one name requests the same video. */
export function seedOf({ input, jobKey }: Pick<JobRequest, 'input' | 'jobKey'>): number {
  return input.seed ?? hash('sha256', jobKey, 'buffer').readUInt32BE() >>> 1;
}

/** The fields of an input, without the addresses that the client gave for its media. */
export function inputWithoutMediaUrls(input: Partial<TaskInput>): JsonObject {
  const others = Object.entries(input).filter(([field]) => !mediaFields.some(({ name }) => name === field));
  return Object.fromEntries(others);
}

/** Begins the names of the files of a job, so that they can be found when the upstream has forgotten the job. */
export function jobFilePrefix({ jobKey }: Pick<JobRequest, 'jobKey'>): string {
  return `videogen/${jobKey}`;
}

/** Matches clients' references to images: `@Image1` or `[Image1]`, also with a space or in lower case, but not within a URL or longer number. */
const references = /(?<!\w)@Image\s?([1-9])(?!\w)|\[Image\s?([1-9])\]/gi;

/**
 * The prompt with its references to images in a provider's spelling, in which `{n}` stands for the number: `@Image{n}`,
 * `[Image{n}]`. A reference to an image that was not sent stays as it is, for it may be plain text.
 */
export function spellImageReferences(prompt: string, imageCount: number, spelling: string): string {
  return prompt.replaceAll(references, (written: string, at?: string, bracketed?: string) => {
    const number = Number(at ?? bracketed);
    return number <= imageCount ? spelling.replaceAll('{n}', String(number)) : written;
  });
}
