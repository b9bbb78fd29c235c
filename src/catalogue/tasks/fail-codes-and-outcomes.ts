/** The reasons for `fail`; stable, because they are part of the API. */
export const failCodes = [
  'content_rejected',
  'image_unreachable',
  'image_invalid',
  'media_unreachable',
  'media_invalid',
  'provider_rejected',
  'provider_unavailable',
  'timeout',
  'result_invalid',
  'cancelled',
  'terminated',
  'internal',
] as const;
export type FailCode = (typeof failCodes)[number];

/** The client stopped the task, the client's input was rejected, or anything else: only `failed` counts against providers. */
export const failOutcomes = ['cancelled', 'rejected', 'failed'] as const;
export type FailOutcome = (typeof failOutcomes)[number];

const neutralOutcomes: Readonly<Partial<Record<string, FailOutcome>>> = {
  cancelled: 'cancelled',
  content_rejected: 'rejected',
  image_unreachable: 'rejected',
  image_invalid: 'rejected',
  media_unreachable: 'rejected',
  media_invalid: 'rejected',
} satisfies Partial<Record<FailCode, FailOutcome>>;

export const rejectedCodes: readonly FailCode[] = failCodes.filter((code) => outcomeOfFailCode(code) === 'rejected');

export function outcomeOfFailCode(failCode: string): FailOutcome {
  return neutralOutcomes[failCode] ?? 'failed';
}
