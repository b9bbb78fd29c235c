import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { v4 as uuid } from 'uuid';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import {
  type MediaLinks,
  noMedia,
  type PreparedReferenceImage,
  type PreparedMediaByRole,
} from '../../../src/catalogue/media/media-by-role.ts';
import type {
  Job,
  JobRequest,
  JobStatus,
  LostCreateToRecover,
  PolledProvider,
} from '../../../src/providers/provider-contract.ts';

/** A signal that is never aborted. */
export const { signal } = new AbortController();

export type JobChanges = Partial<JobRequest> & {
  readonly images?: readonly PreparedReferenceImage[];
  readonly imageLinks?: readonly string[];
  /** Frames beside the images. */
  readonly frames?: Pick<PreparedMediaByRole, 'firstFrame' | 'lastFrame'>;
  readonly links?: Partial<MediaLinks>;
};

/** A request for a job; its name and its prompt are its own unless they are given. */
export function jobRequest({ images = [], imageLinks = [], frames, links, ...changes }: JobChanges = {}): JobRequest {
  const jobKey = changes.jobKey ?? uuid();
  return {
    taskId: jobKey,
    ordinal: 1,
    // An account of its own for each.
    accountHash: hash('sha256', jobKey),
    jobKey,
    model: 'videogen-2.0',
    input: withDefaults({ prompt: `a story about ${jobKey}` }),
    media: async () => ({ ...noMedia, ...frames, images }),
    mediaLinks: { ...noMedia, images: imageLinks, ...links },
    deadlineMs: 60_000,
    ...changes,
  };
}

/** The job that an upstream made of it. */
export function jobOf({ jobKey, input }: JobRequest, id: string, handle: Job['handle'] = {}): Job {
  return { jobKey, id, handle, input };
}

/** A create of the request whose answer was lost just now. */
export function lostCall(request: JobRequest, changes: Partial<LostCreateToRecover> = {}): LostCreateToRecover {
  const alone = { claimed: async () => new Set<string>(), countRivals: async () => 0 };
  return { ...request, accountHashes: [request.accountHash], intendedAt: Date.now(), ...alone, ...changes };
}

/** Creates a job that the upstream accepts. */
export async function begun(provider: PolledProvider, changes: JobChanges = {}) {
  const request = jobRequest(changes);
  const outcome = await provider.submit(request, signal);
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
  return { request, job: jobOf(request, outcome.id, outcome.handle) };
}

export async function statusOf(provider: PolledProvider, job: Job, until = signal): Promise<JobStatus> {
  return (await provider.status([job], until)).get(job.jobKey) ?? { state: 'unclear', detail: 'no entry' };
}
