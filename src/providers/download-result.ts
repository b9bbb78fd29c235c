import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { detailOf } from './answers.ts';
import type { UpstreamClient, Warn, WorkPlace } from './contract.ts';
import type { GeneratedVideo } from './provider.ts';

const [firstPauseMs, maxPauseMs] = [1_000, 60_000];

/**
 * Downloads the video of a job that succeeded, until it is there or the signal is aborted, and throws that signal's reason: no
 * fault of a download is worth a paid video. `freshUrl` is asked before each attempt, because addresses expire.
 */
export async function downloadResult(
  client: UpstreamClient,
  freshUrl: (signal: AbortSignal) => Promise<string>,
  { workFolder, signal }: WorkPlace,
  warn: Warn,
): Promise<GeneratedVideo> {
  const path = join(workFolder, 'video');
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    signal.throwIfAborted();
    try {
      await client.download(await freshUrl(signal), path, { signal });
      return { path };
    } catch (error) {
      if (!signal.aborted) warn('result download failed', detailOf({ error }));
      // An aborted pause leads to the check of the signal.
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
