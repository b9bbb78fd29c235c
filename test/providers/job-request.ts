import { hash } from 'node:crypto';
import { v4 as uuid } from 'uuid';
import { withDefaults } from '../../src/tasks/task-input.ts';
import { type MediaLinks, noMedia, type ReferenceImage, type ReferenceMedia } from '../../src/tasks/ports.ts';
import type { Job, JobRequest } from '../../src/providers/contract.ts';

export type JobChanges = Partial<JobRequest> & {
  readonly images?: () => Promise<readonly ReferenceImage[]>;
  readonly imageLinks?: readonly string[];
  /** Frames beside the images. */
  readonly frames?: Pick<ReferenceMedia, 'firstFrame' | 'lastFrame'>;
  readonly links?: Partial<MediaLinks>;
};

/** A request for a job; its name and its prompt are its own unless they are given. */
export function jobRequest({ images, imageLinks = [], frames, links, ...changes }: JobChanges = {}): JobRequest {
  const jobKey = changes.jobKey ?? uuid();
  return {
    taskId: jobKey,
    ordinal: 1,
    // An account of its own for each.
    accountHash: hash('sha256', jobKey),
    jobKey,
    model: 'videogen-2.0',
    input: withDefaults({ prompt: `a story about ${jobKey}` }),
    media: async () => ({ ...noMedia, ...frames, images: (await images?.()) ?? [] }),
    mediaLinks: { ...noMedia, images: imageLinks, ...links },
    deadlineMs: 60_000,
    ...changes,
  };
}

/** The job that an upstream made of it. */
export function jobOf({ jobKey, input }: JobRequest, id: string, handle: Job['handle'] = {}): Job {
  return { jobKey, id, handle, input };
}
