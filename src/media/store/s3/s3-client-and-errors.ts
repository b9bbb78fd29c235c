import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { type BucketLocation, nameOfStore } from '../store-location.ts';
import { SetupError } from '../../../platform/setup-errors-and-error-messages.ts';
import { StoreUnavailableError } from '../result-store.ts';

// This module loads the SDK, so it is imported only where results are stored in a bucket.

/** The idle time of requests at a start, which an outage must not delay for long. */
export const startCheckIdleMs = 5_000;

/** The SDK finds what is undefined, such as the credentials. */
export type S3ClientSettings = {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** Undefined: with an endpoint the bucket stands in the path, else in the host's name. */
  readonly pathStyle?: boolean | undefined;
  /** Undefined: from the SDK's chain (variables, files, the machine's role). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  readonly connectMs?: number | undefined;
  readonly idleMs?: number | undefined;
};

export function createS3Client(settings: S3ClientSettings): S3Client {
  const { endpoint, region, pathStyle, credentials, connectMs = 5_000, idleMs = 30_000 } = settings;
  const config: S3ClientConfig = {
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    // Compatible stores support only the checksums that a request must have.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectMs, socketTimeout: idleMs },
  };
  if (endpoint !== undefined) Object.assign(config, { endpoint, region: 'us-east-1' });
  if (region !== undefined) config.region = region;
  if (credentials !== undefined) config.credentials = credentials;
  return new S3Client(config);
}

/** The SDK stores the error's code in its name. */
function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const metadata: unknown = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** A 404 without this code may also mean a missing bucket. */
function isMissing(error: unknown): boolean {
  return codeOf(error) === 'NoSuchKey';
}

export function isRangeNotSatisfiable(error: unknown): boolean {
  return codeOf(error) === 'InvalidRange' || statusOf(error) === 416;
}

const temporary: readonly (number | undefined)[] = [408, 425, 429];

const refusals: readonly [codes: readonly string[], sentence: string][] = [
  [['NoSuchBucket'], 'The bucket does not exist. Create it, or correct RESULT_STORE.'],
  [
    ['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken', 'TokenRefreshRequired'],
    'The store does not accept the credentials. Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what stands for them.',
  ],
  [
    ['CredentialsProviderError'],
    'There are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role.',
  ],
  [
    ['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'],
    'The bucket is in another region. Set AWS_REGION to its region.',
  ],
  [
    ['AccessDenied', 'Forbidden', 'AllAccessDisabled'],
    'The credentials may not do this. They need s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject on its objects.',
  ],
  [['RequestTimeTooSkewed'], 'The clock of this machine differs from that of the store. Correct it.'],
];

/** Returns an error for problems that an operator has to fix; undefined for temporary ones, such as an outage. */
export function setupErrorUnlessTemporary(error: unknown, location: BucketLocation): SetupError | undefined {
  const code = codeOf(error);
  const noRegion = error instanceof Error && error.message === 'Region is missing';
  const known = refusals.find(([codes]) => codes.includes(code))?.[1];
  const sentence = noRegion ? 'Set AWS_REGION to the region of the bucket.' : known;
  const status = statusOf(error) ?? 500;
  if (sentence === undefined && (status >= 500 || temporary.includes(status))) return undefined;
  const reason = sentence ?? `The store refuses the request: ${error instanceof Error ? error.message : code}`;
  return new SetupError(`The result store ${nameOfStore(location)} cannot be used (${code}). ${reason}`, {
    cause: error,
  });
}

/** Sends requests to the store and converts their errors. */
export async function callBucket<T>(location: BucketLocation, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const reason =
      setupErrorUnlessTemporary(cause, location)?.message ?? (cause instanceof Error ? cause.message : String(cause));
    throw new StoreUnavailableError(`${what} failed in the result store ${nameOfStore(location)}: ${reason}`, {
      cause,
    });
  }
}

/** Like `callBucket`, but returns undefined for a missing file. */
export function callBucketAllowingMissing<T>(
  location: BucketLocation,
  what: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  return callBucket(location, what, () =>
    work().catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    }),
  );
}
