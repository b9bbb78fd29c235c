import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { type BucketLocation, nameOfStore } from '../domain/store-location.ts';
import { SetupError } from '../domain/errors.ts';
import { StoreUnavailable } from './result-store.ts';

// The SDK is loaded with this module, which is imported only where results are kept in a bucket.

/** How a bucket is reached; what is left open is the SDK's to find, as are the credentials. */
export type S3Settings = {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** Undefined: with an endpoint the bucket stands in the path, else in the host's name. */
  readonly pathStyle?: boolean | undefined;
  /** Undefined: from the SDK's chain (variables, files, the machine's role). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** The longest time in which no byte moves. */
  readonly idleMs?: number | undefined;
};

export function createS3Client({ endpoint, region, pathStyle, credentials, idleMs = 30_000 }: S3Settings): S3Client {
  const config: S3ClientConfig = {
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    // Compatible stores know no newer checksums than those that a request must have.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5_000, socketTimeout: idleMs },
  };
  if (endpoint !== undefined) Object.assign(config, { endpoint, region: 'us-east-1' });
  if (region !== undefined) config.region = region;
  if (credentials !== undefined) config.credentials = credentials;
  return new S3Client(config);
}

/** What the SDK throws: the error's code is its name. */
function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const metadata: unknown = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** Whether the store says that there is no such object. A 404 alone may also mean its bucket, or the user who asks. */
function isMissing(error: unknown): boolean {
  return codeOf(error) === 'NoSuchKey';
}

/** What may pass although the status says that the request is at fault. */
const passing: readonly (number | undefined)[] = [408, 425, 429];

/** Refusals that no waiting mends, and what the person who starts the program can do. */
const refusals: readonly [codes: readonly string[], sentence: string][] = [
  [['NoSuchBucket'], 'There is no such bucket. Create it, or correct RESULT_STORE.'],
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
    'The bucket lies in another region. Set AWS_REGION to its own.',
  ],
  [
    ['AccessDenied', 'Forbidden', 'AllAccessDisabled'],
    'The credentials may not do this. They need s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload on what is in it.',
  ],
  [['RequestTimeTooSkewed'], 'The clock of this machine differs from that of the store. Correct it.'],
];

/** The sentence for what only a person can mend; undefined for what may pass, such as an outage. */
export function refusalOf(error: unknown, location: BucketLocation): SetupError | undefined {
  const code = codeOf(error);
  const noRegion = error instanceof Error && error.message === 'Region is missing';
  const known = refusals.find(([codes]) => codes.includes(code))?.[1];
  const sentence = noRegion ? 'Set AWS_REGION to the region of the bucket.' : known;
  const status = statusOf(error) ?? 500;
  if (sentence === undefined && (status >= 500 || passing.includes(status))) return undefined;
  const reason = sentence ?? `The store refuses the request: ${error instanceof Error ? error.message : code}`;
  return new SetupError(`The result store ${nameOfStore(location)} cannot be used (${code}). ${reason}`, {
    cause: error,
  });
}

/** Runs requests to the store; whatever they throw becomes one kind of error. */
export async function asked<T>(location: BucketLocation, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const reason = refusalOf(cause, location)?.message ?? (cause instanceof Error ? cause.message : String(cause));
    throw new StoreUnavailable(`${what} failed in the result store ${nameOfStore(location)}: ${reason}`, { cause });
  }
}

/** As `asked`, for a file that may not be there. */
export function askedFor<T>(location: BucketLocation, what: string, work: () => Promise<T>): Promise<T | undefined> {
  return asked(location, what, () =>
    work().catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    }),
  );
}
