import { stat } from 'node:fs/promises';
import type { NotAccepted, RecoverOutcome, SubmitOutcome, RunOutcome, UpstreamClient } from './provider-contract.ts';
import type { PollAnswerClarity } from './jobs/shared-job-poller.ts';

// Metrics count these events of upstreams. Outcomes are our own words, never an upstream's.

export type ProviderEvent = { readonly provider: string } & (
  | { readonly kind: 'provider_call'; readonly outcome: SubmitOutcomeLabel }
  | { readonly kind: 'provider_poll'; readonly outcome: PollAnswerClarity }
  /** The upstream was searched for the job of a create whose answer was lost. */
  | { readonly kind: 'provider_lookup'; readonly outcome: RecoverOutcome['kind'] }
  /** A lost job is abandoned, and another one may be made at the same provider. */
  | { readonly kind: 'provider_resubmission' }
  /** An interrupted download of a video resumes; a failed one restarts. */
  | { readonly kind: 'provider_download'; readonly outcome: 'interrupted' | 'failed' }
  | { readonly kind: 'provider_download'; readonly outcome: 'complete'; readonly bytes: number }
);

export type SubmitOutcomeLabel = 'accepted' | NotAccepted['reason'] | 'refused' | 'unknown';

type DownloadEvent = Extract<ProviderEvent, { readonly kind: 'provider_download' }>;

/** Returns the outcome of a create. A job that runs within its request was accepted if it has ended. */
export function submitOutcomeLabelOf(outcome: SubmitOutcome | RunOutcome): SubmitOutcomeLabel {
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

export function clientWithDownloadEvents(
  client: UpstreamClient,
  provider: string,
  emit: (event: DownloadEvent) => void,
): UpstreamClient {
  const kind = 'provider_download';
  return {
    call: client.call,
    download: async (pathOrUrl, toFile, how) => {
      const onBreak: typeof how.onBreak = (error) => {
        emit({ kind, provider, outcome: 'interrupted' });
        how.onBreak?.(error);
      };
      try {
        await client.download(pathOrUrl, toFile, { ...how, onBreak });
      } catch (error) {
        // A download that we abort ourselves is not a failure.
        if (!how.signal.aborted) emit({ kind, provider, outcome: 'failed' });
        throw error;
      }
      emit({ kind, provider, outcome: 'complete', bytes: (await stat(toFile)).size });
    },
  };
}
