export const providerTestOutcomes = [
  /** It responded as its API does. */
  'ok',
  /** It responded with something else, such as a page of a proxy. */
  'responded',
  'key_rejected',
  /** Too many requests, or an error of its own. */
  'unavailable',
  'unreachable',
  /** No request was possible. */
  'not_tested',
  /** No worker of ours ran the test in time. */
  'no_worker',
] as const;
export type ProviderTestOutcome = (typeof providerTestOutcomes)[number];

export type ProviderTestReport = {
  readonly outcome: ProviderTestOutcome;
  /** The HTTP status that the upstream returned. */
  readonly status?: number | undefined;
  readonly latencyMs?: number | undefined;
  /** Only operators read it. */
  readonly detail?: string | undefined;
};
