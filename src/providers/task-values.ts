import { hash } from 'node:crypto';
import { z } from 'zod';
import { sizeOf } from '../media/frame-size.ts';
import { resolutions } from '../tasks/task-input.ts';
import type { PlaceholderTask } from './placeholders.ts';
import type { FrozenConfig, JobRequest } from './contract.ts';

// The values of a task in placeholders and bodies of requests.

const parametersSchema = z.object({
  width: z.int().optional(),
  height: z.int().optional(),
  resolution: z.enum(resolutions).optional(),
  fps: z.int().default(24),
});

/** The values of a task; the images are spelled by the adapter. */
export async function taskValues(
  request: JobRequest,
  { options }: FrozenConfig,
  images: PlaceholderTask['images'],
): Promise<PlaceholderTask> {
  const parameters = parametersSchema.parse(options['parameters'] ?? {});
  const {
    images: [first],
  } = await request.media();
  return {
    input: request.input,
    seed: seedOf(request),
    size: sizeOf(request.input, first, parameters),
    fps: parameters.fps,
    images,
    prefix: filePrefix(request),
  };
}

/** Depends on the name alone, so that a repeated create under one name requests the same video. */
export function seedOf({ jobKey }: Pick<JobRequest, 'jobKey'>): number {
  return hash('sha256', jobKey, 'buffer').readUInt32BE() >>> 1;
}

/** Begins the names of the files of a job, so that they can be found when the upstream has forgotten the job. */
export function filePrefix({ jobKey }: Pick<JobRequest, 'jobKey'>): string {
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
