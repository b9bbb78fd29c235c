import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { containerOf } from '../outbound/container.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { detailOf } from './answers.ts';
import type { GeneratedVideo, UpstreamClient, Warn, WorkPlace } from './contract.ts';

const [firstPauseMs, maxPauseMs] = [1_000, 60_000];
/** A gateway may answer with an empty file or a text instead. So many in a row are the upstream's own. */
const maxStrangeFiles = 5;

/**
 * Downloads the video of a job that succeeded, until it is there or the signal is aborted, and throws that signal's reason: no
 * fault of a download is worth a paid video, unless it is too large, which no repetition changes. `freshUrl` is asked again when
 * an address has expired.
 */
export async function downloadResult(
  client: UpstreamClient,
  freshUrl: (signal: AbortSignal) => Promise<string>,
  { workFolder, signal }: WorkPlace,
  warn: Warn,
): Promise<GeneratedVideo> {
  const path = join(workFolder, 'video');
  const onBreak = (error: unknown) => warn('result download interrupted', detailOf({ error }));
  let strangeFiles = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    signal.throwIfAborted();
    try {
      await client.download(await freshUrl(signal), path, { signal, onBreak });
      const isVideo = (await containerOf(path)) !== undefined;
      strangeFiles += isVideo ? 0 : 1;
      if (!isVideo && strangeFiles < maxStrangeFiles) throw new Error('the download is no video');
      return { path };
    } catch (error) {
      if (error instanceof OutboundError && error.kind === 'too_large') throw error;
      if (!signal.aborted) warn('result download failed', detailOf({ error }));
      // An aborted pause leads to the check of the signal.
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
