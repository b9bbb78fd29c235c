import type { EstimatedCost } from '../catalogue/prices/upstream-cost.ts';
import type { JobFailureAndCostTerms } from '../catalogue/file/catalogue-schema-and-types.ts';
import type { ProviderKind } from '../catalogue/file/provider-schema.ts';
import type { JsonObject } from '../platform/text/json.ts';
import type { MediaKind } from '../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import type { MediaLinks, PreparedMediaByRole } from '../catalogue/media/media-by-role.ts';
import type { TaskInput } from '../catalogue/tasks/task.ts';
import type { ProviderClient, ProviderClientOptions } from '../platform/outbound/provider-client.ts';

// The contract between the engine and a provider. A create is sent once and has one of four outcomes. Only the two that prove that
// no job exists let the engine try another provider.

export type { Answer as UpstreamAnswer } from '../platform/outbound/body/read-response.ts';
export type { RequestBody } from '../platform/outbound/provider-client.ts';

/**
 * The configuration that is stored with a job and never changes: the address and options of its upstream, without secrets, in at
 * most 64 kB of JSON. A job is followed with it even when the catalogue has changed.
 */
export type FrozenConfig = {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly upstreamModel: string;
  readonly options: JsonObject;
};

/** Frozen with a job: the configuration of its upstream, and the terms for its failure, loss and cost. */
export type FrozenJobTerms = FrozenConfig & JobFailureAndCostTerms;

export type JobRequest = {
  readonly taskId: string;
  /** The number of the job within its task, over all providers. */
  readonly ordinal: number;
  /** Distinguishes accounts without naming them: a keyed hash of the account's id, in hex. */
  readonly accountHash: string;
  /**
   * The job's name, a canonical lower-case UUID, where the upstream accepts names. A create that was not accepted is repeated under
   * the same name: if the lost one arrives late after all, both mean the same job.
   */
  readonly jobKey: string;
  readonly model: string;
  /** References to images in `prompt` are in the provider's spelling already. */
  readonly input: TaskInput;
  /** The reference media, fetched on the first call; throws a `TaskError` for an invalid one. */
  readonly media: () => Promise<PreparedMediaByRole>;
  /** Signed links to copies of the media in our store, of those kinds for which the provider has `link`. */
  readonly mediaLinks: MediaLinks;
  /** The upstream may write the video of this job there; only for providers with `uploads`. */
  readonly resultUpload?: ResultUploadLink;
  readonly deadlineMs: number;
};

/** A link to PUT one file to, until it expires (Unix milliseconds). */
export type ResultUploadLink = { readonly url: string; readonly expireTime: number };

/**
 * The reason of an upstream for rejecting a request or failing a job. `content` and `image`, which stands for all media, end the task;
 * `input` (the upstream cannot make this video) and `upstream` (any other reason) let another provider try. `detail` is for operators, at
 * most 8,192 characters.
 */
export type UpstreamErrorReason = {
  readonly kind: 'content' | 'image' | 'input' | 'upstream';
  /** The rejected part, where the upstream reports it. */
  readonly about?: 'prompt' | MediaKind | 'output' | 'sound';
  readonly code?: string;
  readonly detail: string;
};

/** Micro-units of the currency: 1,000,000 are one dollar. */
export type Cost = EstimatedCost | (Omit<EstimatedCost, 'basis'> & { readonly basis: 'reported' });

export type SubmitOutcome =
  | { readonly kind: 'accepted'; readonly id: string; readonly handle?: JsonObject }
  | NotAccepted
  | Refused
  /** A job may exist. Only `recover` can determine it. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** No job exists, for a temporary reason or one that the operator has to fix. The create may be retried later. */
export type NotAccepted = {
  readonly kind: 'not_accepted';
  readonly reason: 'busy' | 'overloaded' | 'unreachable' | 'operator';
  readonly retryAfterMs?: number;
  readonly detail: string;
};

/** No job exists, because of the request itself. */
export type Refused = { readonly kind: 'refused'; readonly error: UpstreamErrorReason };

/** A create whose response was lost. Times are Unix milliseconds of the database's clock. */
export type LostCreateToRecover = Omit<JobRequest, 'accountHash' | 'media' | 'mediaLinks'> & {
  /** The create was sent with one of these: the secret may have been rotated since. */
  readonly accountHashes: readonly string[];
  readonly intendedAt: number;
  /** Returns those of the upstream ids that belong to other jobs of ours. */
  readonly claimed: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Counts other unanswered creates of ours at this provider and model whose job may be among the candidates. */
  readonly countRivals: () => Promise<number>;
};

export type RecoverOutcome =
  | { readonly kind: 'found'; readonly id: string; readonly handle?: JsonObject }
  /** It is certain that no job exists. Only providers with `namesJobs` may return this. */
  | { readonly kind: 'not_created' }
  /** Not known yet, retry; ten minutes after the intent it counts as unknown. */
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'unknown'; readonly detail: string };

/** A job that was accepted. `handle` is further data of the provider, such as addresses; at most 4 kB as JSON. */
export type Job = {
  readonly jobKey: string;
  readonly id: string;
  readonly handle: JsonObject;
  readonly input: TaskInput;
};

export type JobStatus =
  /** `progress` is 0 to 100. */
  | { readonly state: 'queued' | 'running'; readonly progress?: number }
  /** `result` is passed to the method `result`, and is never stored. */
  | {
      readonly state: 'succeeded';
      readonly result?: JsonObject;
      readonly cost?: Cost;
      /** The upstream reports that it wrote the video to `resultUpload`. */
      readonly isUploaded?: boolean;
    }
  | { readonly state: 'failed'; readonly error: UpstreamErrorReason; readonly cost?: Cost }
  /** The upstream reports that the job is unknown there. The engine decides what that means. */
  | { readonly state: 'missing' }
  /** No verdict: the engine continues to follow the job. */
  | { readonly state: 'unclear'; readonly detail: string; readonly retryAfterMs?: number };

/** `ended`: it had ended before, or is unknown there. `runs_on`: the upstream did not stop it, so its slot is still taken. */
export type CancelOutcome = 'cancelled' | 'ended' | 'runs_on' | 'unclear';

type Capabilities = {
  readonly name: string;
  readonly config: FrozenConfig;
  /** Reference images and frames are in the request, or the upstream fetches them from our signed links. */
  readonly images: 'file' | 'link';
  /** The same for reference video and audio; `file` by default. */
  readonly clips?: 'file' | 'link';
};

/**
 * The video, a file in `workFolder`, and its poster where the provider delivers one: a JPEG of the size of `calculatePosterSize` in src/media.
 * A missing or different poster is made from the video, which costs more CPU than the rest of the task.
 */
export type GeneratedVideoFile = { readonly path: string; readonly posterPath?: string };

/** A job succeeded, but its upstream, which has its jobs in memory only, restarted before the video was fetched. */
export class VideoLostError extends Error {
  override readonly name = 'VideoLostError';
}

/** Its jobs run upstream, even while no worker follows them. */
export type PolledProvider = Capabilities & {
  readonly runs: 'upstream';
  /** Jobs have our `jobKey`, and a repeated create under one key makes no second job. */
  readonly namesJobs: boolean;
  /** Jobs are in the upstream's memory only: one that is missing after its acceptance died in a restart. */
  readonly forgetsJobs: boolean;
  /** Its jobs get a link by which it may write their videos into our store. */
  readonly uploads?: boolean;
  /** The number of jobs in one `status` request. */
  readonly maxBatch: number;
  readonly minPollMs: number;
  /** The limit of each worker process. */
  readonly maxPollsPerSecond: number;
  /** A create, with its uploads, ends after this time, and may reach the upstream until then. */
  readonly submitTimeoutMs: number;
  /** Sends one create request, once. Any error except a `TaskError` about an image is treated as `unknown`. */
  submit(request: JobRequest, signal: AbortSignal): Promise<SubmitOutcome>;
  /** Finds the job of a lost create. Read-only: it never creates one. An error means `later`. */
  recover(create: LostCreateToRecover, signal: AbortSignal): Promise<RecoverOutcome>;
  /** Returns statuses by `jobKey`; a job without one is `unclear`, and so are all of them after an error. */
  status(jobs: readonly Job[], signal: AbortSignal): Promise<ReadonlyMap<string, JobStatus>>;
  /**
   * Fetches the video of a job that succeeded, and retries until `signal` is aborted, because the video is paid for. Throws `VideoLostError`
   * if the upstream does not have the job any more.
   */
  result(job: Job, known: JsonObject | undefined, to: Workspace): Promise<Pick<GeneratedVideoFile, 'path'>>;
  cancel(job: Job, signal: AbortSignal): Promise<CancelOutcome>;
};

/** The folder is empty, belongs to this attempt, and is deleted after it. */
export type Workspace = { readonly workFolder: string; readonly signal: AbortSignal };

export type RunContext = Workspace & {
  /** The upstream proved that the job has started, which makes its task `generating`. May be called again. */
  readonly onStarted: () => void;
};

/** Its job exists only during `run`: `here` on this machine's CPU, `held` in a connection to the upstream. */
export type RunProvider = Capabilities & {
  readonly runs: 'here' | 'held';
  /**
   * Called again with the same `jobKey` after a crash. `report` receives the progress, 0 to 100. Throws a `TaskError` for an error
   * of the task; any other error is retried.
   */
  run(request: JobRequest, report: (progress: number) => void, to: RunContext): Promise<RunOutcome>;
  /** Requests the upstream's health, which costs nothing, and returns it as a status of no job. */
  check?(signal: AbortSignal): Promise<JobStatus>;
};

export type RunOutcome =
  | { readonly kind: 'video'; readonly video: GeneratedVideoFile; readonly cost?: Cost }
  | { readonly kind: 'failed'; readonly error: UpstreamErrorReason; readonly cost?: Cost }
  /** The connection broke, and with it the job. */
  | { readonly kind: 'lost'; readonly detail: string }
  | NotAccepted
  | Refused;

export type Provider = PolledProvider | RunProvider;

/** Writes an event and its detail to the log. */
export type Warn = (event: string, detail: string) => void;

export type UpstreamClient = Pick<ProviderClient, 'call' | 'download'>;

/** What the client puts into each request, beside what the provider itself does. */
export type HeadersAndCredentials = Required<
  Pick<ProviderClientOptions, 'headers' | 'credentials' | 'secretQuery' | 'keyOrigins'>
>;
