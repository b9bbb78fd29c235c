import { stat } from 'node:fs/promises';
import type { NotAccepted, RecoverOutcome, SubmitOutcome, HeldEnd, UpstreamClient } from './contract.ts';
import type { PollOutcome } from './poller.ts';

// What happens between us and upstreams, told to whoever counts it.

export type ProviderEvent =
  /** A create was sent, or could not be. */
  | { readonly kind: 'call'; readonly outcome: CallOutcome }
  | { readonly kind: 'poll'; readonly outcome: PollOutcome }
  /** The upstream was asked for the job of a lost call. */
  | { readonly kind: 'look_up'; readonly outcome: RecoverOutcome['kind'] }
  /** A lost job is given up, and another one may be made at the same provider. */
  | { readonly kind: 'resubmission' }
  /** Of a video; an interrupted download goes on, a failed one begins anew. */
  | { readonly kind: 'download'; readonly outcome: 'interrupted' | 'failed' }
  | { readonly kind: 'download'; readonly outcome: 'complete'; readonly bytes: number };

export type CallOutcome = 'accepted' | NotAccepted['reason'] | 'refused' | 'unknown';

export type OnProviderEvent = (provider: string, event: ProviderEvent) => void;

/** A job that lives in its call was accepted when it has come to an end. */
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

/** The client, with its downloads told. */
export function tellDownloads(client: UpstreamClient, tell: (event: ProviderEvent) => void): UpstreamClient {
  return {
    call: client.call,
    download: async (pathOrUrl, toFile, how) => {
      const onBreak: typeof how.onBreak = (error) => {
        tell({ kind: 'download', outcome: 'interrupted' });
        how.onBreak?.(error);
      };
      try {
        await client.download(pathOrUrl, toFile, { ...how, onBreak });
      } catch (error) {
        // What we break off is no failure.
        if (!how.signal.aborted) tell({ kind: 'download', outcome: 'failed' });
        throw error;
      }
      tell({ kind: 'download', outcome: 'complete', bytes: (await stat(toFile)).size });
    },
  };
}
