import { stat } from 'node:fs/promises';
import type { NotAccepted, RecoverOutcome, SubmitOutcome, HeldEnd, UpstreamClient } from './contract.ts';
import type { PollOutcome } from './poller.ts';

export type ProviderEvent =
  /** A create was sent, or could not be. */
  | { readonly kind: 'call'; readonly outcome: CallOutcome }
  | { readonly kind: 'poll'; readonly outcome: PollOutcome }
  /** The job of a lost call was looked up. */
  | { readonly kind: 'look_up'; readonly outcome: RecoverOutcome['kind'] }
  /** A lost job was abandoned, and another one may be created at the same provider. */
  | { readonly kind: 'resubmission' }
  /** An interrupted download of a video continues, a failed one restarts. */
  | { readonly kind: 'download'; readonly outcome: 'interrupted' | 'failed' }
  | { readonly kind: 'download'; readonly outcome: 'complete'; readonly bytes: number };

export type CallOutcome = 'accepted' | NotAccepted['reason'] | 'refused' | 'unknown';

export type OnProviderEvent = (provider: string, event: ProviderEvent) => void;

/** A job that runs during its call was accepted if it has ended. */
export function callOutcomeOf(outcome: SubmitOutcome | HeldEnd): CallOutcome {
  return outcome.kind === 'not_accepted' ? outcome.reason : callOutcomes[outcome.kind];
}

const callOutcomes = {
  accepted: 'accepted',
  video: 'accepted',
  failed: 'accepted',
  refused: 'refused',
  unknown: 'unknown',
  lost: 'unknown',
} as const;

/** Wraps the client to report its downloads. */
export function reportDownloads(client: UpstreamClient, report: (event: ProviderEvent) => void): UpstreamClient {
  return {
    call: client.call,
    download: async (pathOrUrl, toFile, how) => {
      const onBreak: typeof how.onBreak = (error) => {
        report({ kind: 'download', outcome: 'interrupted' });
        how.onBreak?.(error);
      };
      try {
        await client.download(pathOrUrl, toFile, { ...how, onBreak });
      } catch (error) {
        // A download that we abort is no failure.
        if (!how.signal.aborted) report({ kind: 'download', outcome: 'failed' });
        throw error;
      }
      report({ kind: 'download', outcome: 'complete', bytes: (await stat(toFile)).size });
    },
  };
}
