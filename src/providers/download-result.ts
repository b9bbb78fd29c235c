import { join } from 'node:path';
import timers from 'node:timers/promises';
import { isSystemError } from '../platform/setup-errors-and-error-messages.ts';
import { containerOf } from '../platform/outbound/body/media-container.ts';
import { OutboundError, type OutboundErrorKind } from '../platform/outbound/outbound-error.ts';
import { detailOfAnswerOrError } from './classify-upstream-answers.ts';
import {
  type GeneratedVideoFile,
  type UpstreamClient,
  VideoLostError,
  type Warn,
  type Workspace,
} from './provider-contract.ts';

const [firstPauseMs, maxPauseMs] = [1_000, 60_000];
/**
 * A gateway may answer with an empty file or a text instead of the video. After
 * this many of them, the upstream itself is assumed to be the cause.
 */
const maxOtherFiles = 5;

/** A later try gets the same result: the video is too large, or its address is one that we do not send requests to. */
const finalKinds: readonly OutboundErrorKind[] = ['too_large', 'encoding', 'blocked'];

/**
 * Downloads the video of a job that succeeded, and retries until the signal is aborted, because the video is paid for; only one that
 * is too large or lost, at a forbidden address, or cannot be written, is an error immediately. Each try calls `freshUrl`, because an address may have expired.
 */
export async function downloadResult(
  client: UpstreamClient,
  freshUrl: (signal: AbortSignal) => Promise<string>,
  { workFolder, signal }: Workspace,
  warn: Warn,
): Promise<GeneratedVideoFile> {
  const path = join(workFolder, 'video');
  const onBreak = (error: unknown) => warn('result download interrupted', detailOfAnswerOrError({ error }));
  let otherFiles = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    signal.throwIfAborted();
    try {
      await client.download(await freshUrl(signal), path, { signal, onBreak });
      const isVideo = (await containerOf(path)) !== undefined;
      otherFiles += isVideo ? 0 : 1;
      if (!isVideo && otherFiles < maxOtherFiles) throw new Error('the download is no video');
      return { path };
    } catch (error) {
      if (error instanceof VideoLostError || (error instanceof OutboundError && finalKinds.includes(error.kind)))
        throw error;
      // The disk of this worker is full, and that of another one may not be.
      if (isSystemError(error)) throw error;
      if (!signal.aborted) warn('result download failed', detailOfAnswerOrError({ error }));
      // An aborted pause leads to the check of the signal.
      await timers.setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
