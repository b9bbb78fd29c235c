/** Why a task ended in `fail`; stable, part of the API. */
export const failCodes = [
  'content_rejected',
  'image_unreachable',
  'image_invalid',
  'provider_rejected',
  'provider_unavailable',
  'timeout',
  'result_invalid',
  'cancelled',
  'terminated',
  'internal',
] as const;
export type FailCode = (typeof failCodes)[number];

/** Ends that say nothing about the service: the client stopped its task, or a model rejected the content. Lists show them as such. */
export const neutralFailCodes = ['cancelled', 'content_rejected'] as const satisfies readonly FailCode[];

export function isNeutral(failCode: string | null | undefined): failCode is (typeof neutralFailCodes)[number] {
  return neutralFailCodes.some((code) => code === failCode);
}
