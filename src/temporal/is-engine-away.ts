import { isGrpcServiceError, ServiceError } from '@temporalio/client';

/** gRPC's DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and UNAVAILABLE: the same call may succeed later, unchanged. */
const passingCodes: readonly number[] = [4, 8, 14];

/** True when a call failed because Temporal cannot be reached, or not in time; false for a call that it refused. */
export function isEngineAway(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && passingCodes.includes(cause.code);
}
