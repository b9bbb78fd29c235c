import type { EstimatedCost } from '../domain/catalogue/cost.ts';
import type { ProviderKind } from '../domain/catalogue/providers.ts';
import type { JsonObject, JsonValue } from '../domain/placeholders.ts';
import type { ReferenceImage } from '../domain/ports.ts';
import type { TaskInput } from '../domain/task.ts';
import type { ProviderClient } from '../outbound/provider-client.ts';

// What the engine asks of a provider, and what a provider may answer. A create is sent once; what became of it is told as one of
// four outcomes, and only those that say that no job exists let the engine ask somebody else.

export type { Answer as UpstreamAnswer } from '../outbound/body.ts';
export type { RequestBody } from '../outbound/provider-client.ts';
export type { JsonObject, JsonValue };

/**
 * What is stored with a job and never changes: all that is needed to speak to that upstream about it, without secrets. At most
 * 64 kB as JSON. A job is followed by its frozen configuration, also when the catalogue has changed.
 */
export type FrozenConfig = {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly upstreamModel: string;
  readonly options: JsonObject;
};

export type JobRequest = {
  readonly taskId: string;
  /** Counts the jobs of the task, over all providers. */
  readonly ordinal: number;
  /** Tells accounts apart without naming them: a keyed hash of the account's id, in hex. */
  readonly accountHash: string;
  /**
   * The job's name, a canonical lower-case UUID, where the upstream lets us give one. A create that was not accepted is repeated
   * under the same name: if the lost one arrives late after all, both mean the same job.
   */
  readonly jobKey: string;
  readonly model: string;
  /** References to images in `prompt` are in the provider's spelling already. */
  readonly input: TaskInput;
  /** The reference images in order, fetched on the first call; throws a `TaskError` when one is bad. */
  readonly images: () => Promise<readonly ReferenceImage[]>;
  /** Signed links to copies of the images in our store, in order; empty unless the provider has `images: 'link'`. */
  readonly imageLinks: readonly string[];
  /** Where the upstream may write the video of this job; only for providers with `uploads`. */
  readonly resultUpload?: ResultUpload;
  readonly deadlineMs: number;
};

/** A link to PUT one file to, until it expires (Unix milliseconds). */
export type ResultUpload = { readonly url: string; readonly expireTime: number };

/**
 * What an upstream has against a request or a job. `content` and `image` end the task; `input` (it cannot make such a video) and
 * `upstream` (anything else) are this provider's. `detail` is for operators, at most 8,192 characters; no client reads it.
 */
export type Fault = {
  readonly kind: 'content' | 'image' | 'input' | 'upstream';
  /** What the content policy rejected, where the upstream says it. */
  readonly about?: 'prompt' | 'image' | 'output';
  readonly code?: string;
  readonly detail: string;
};

/** Micro-units of the currency: 1,000,000 are one dollar. */
export type Cost = EstimatedCost | (Omit<EstimatedCost, 'basis'> & { readonly basis: 'reported' });

export type SubmitOutcome =
  | { readonly kind: 'accepted'; readonly id: string; readonly handle?: JsonObject }
  | NotAccepted
  | Refused
  /** A job may exist. Only `recover` can tell. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** No job exists, for a passing reason or one that the operator has to mend. The provider may be asked again later. */
export type NotAccepted = {
  readonly kind: 'not_accepted';
  readonly reason: 'busy' | 'overloaded' | 'unreachable' | 'operator';
  readonly retryAfterMs?: number;
  readonly detail: string;
};

/** No job exists, because of this very request. */
export type Refused = { readonly kind: 'refused'; readonly fault: Fault };

/** A create whose answer was lost. Times are Unix milliseconds of the database's clock. */
export type LostCall = Omit<JobRequest, 'images' | 'imageLinks'> & {
  readonly intendedAt: number;
  /** Which of these upstream ids belong to other jobs of ours. */
  readonly claimed: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Other unanswered creates of ours at this provider and model, intended within ten minutes of this one. */
  readonly rivals: number;
};

export type RecoverOutcome =
  | { readonly kind: 'found'; readonly id: string; readonly handle?: JsonObject }
  /** Certain; only providers with `namesJobs` may say it. */
  | { readonly kind: 'not_created' }
  /** Nothing is known yet, ask again; ten minutes after the intent it counts as unknown. */
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'unknown'; readonly detail: string };

/** A job that was accepted. `handle` is what the provider gave beside the id, empty when it gave nothing; at most 4 kB as JSON. */
export type Job = {
  readonly jobKey: string;
  readonly id: string;
  readonly handle: JsonObject;
  readonly input: TaskInput;
};

export type JobStatus =
  /** `progress` is 0 to 100. */
  | { readonly state: 'queued' | 'running'; readonly progress?: number }
  /** `result` is what `result` needs, such as the address of the video; kept in memory only. */
  | {
      readonly state: 'succeeded';
      readonly result?: JsonObject;
      readonly cost?: Cost;
      /** It says that it wrote the video where `resultUpload` led. */
      readonly isUploaded?: boolean;
    }
  | { readonly state: 'failed'; readonly fault: Fault; readonly cost?: Cost }
  /** The upstream says that it knows no such job. What that means is for the engine to decide. */
  | { readonly state: 'missing' }
  /** No verdict: the job goes on. */
  | { readonly state: 'unclear'; readonly detail: string; readonly retryAfterMs?: number };

/** `ended`: it was over before, or is unknown there. `runs_on`: the upstream did not stop it, and its place is still taken. */
export type CancelOutcome = 'cancelled' | 'ended' | 'runs_on' | 'unclear';

type Capabilities = {
  readonly name: string;
  readonly config: FrozenConfig;
  /** Jobs bear our `jobKey`, and a repeated create under one key makes no second job. */
  readonly namesJobs: boolean;
  /** Jobs are in the upstream's memory only: one that is missing after its acceptance died in a restart. */
  readonly forgetsJobs: boolean;
  /** How reference images reach the upstream: in the request, or fetched by it from our signed links. */
  readonly images: 'file' | 'link';
};

/**
 * Where the provider left the video, a file in `workFolder`, and beside it its poster where the provider delivers one, as many
 * upstreams do: a JPEG of the size that `posterSize` of src/media gives. A poster that is missing or is no such picture is no fault;
 * it is then made from the video, which costs more than all the rest of a task.
 */
export type GeneratedVideo = { readonly path: string; readonly posterPath?: string };

/** Its jobs run upstream, also without a worker that follows them. */
export type PolledProvider = Capabilities & {
  readonly runs: 'upstream';
  /** Whether its jobs get a link by which it may write their videos into our store. */
  readonly uploads?: boolean;
  /** Jobs that one `status` request asks about. */
  readonly maxBatch: number;
  readonly minPollMs: number;
  /** For each worker process. */
  readonly maxPollsPerSecond: number;
  /** Sends one create request, once. What it throws beside a `TaskError` of an image counts as `unknown`. */
  submit(request: JobRequest, signal: AbortSignal): Promise<SubmitOutcome>;
  /** Only reads, or repeats a create under its own name. Throwing means `later`. */
  recover(call: LostCall, signal: AbortSignal): Promise<RecoverOutcome>;
  /** By `jobKey`; a job that is absent is `unclear`. Throwing ends no job either. */
  status(jobs: readonly Job[], signal: AbortSignal): Promise<ReadonlyMap<string, JobStatus>>;
  /** Fetches the video of a job that succeeded, for as long as `signal` allows, however often that fails: it is paid for. */
  result(job: Job, known: JsonObject | undefined, to: WorkPlace): Promise<GeneratedVideo>;
  cancel(job: Job, signal: AbortSignal): Promise<CancelOutcome>;
};

/** What every provider whose jobs run upstream is opened with. */
export type PolledProviderDeps = {
  readonly name: string;
  /** What `options` hold is said by the adapter of the kind. */
  readonly config: FrozenConfig;
  readonly client: UpstreamClient;
  readonly pollsPerSecond: number;
  readonly submitTimeoutMs: number;
  readonly warn: Warn;
};

/** The folder is empty, belongs to this attempt, and is deleted after it. */
export type WorkPlace = { readonly workFolder: string; readonly signal: AbortSignal };

export type RunPlace = WorkPlace & {
  /** The upstream proved that the job has started, which makes its task `generating`. May be called again. */
  readonly onStarted: () => void;
};

/** Its job lives in `run` and ends with it: `here` on this machine's CPU, `held` in a connection to the upstream. */
export type HeldProvider = Capabilities & {
  readonly runs: 'here' | 'held';
  /**
   * Called again with the same `jobKey` after a crash. `report` takes the progress, 0 to 100. Throws a `TaskError` for a fault of
   * the task that this machine found; anything else that it throws is retried.
   */
  run(request: JobRequest, report: (progress: number) => void, to: RunPlace): Promise<HeldEnd>;
};

export type HeldEnd =
  | { readonly kind: 'video'; readonly video: GeneratedVideo; readonly cost?: Cost }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly cost?: Cost }
  /** The connection broke, and with it the job. */
  | { readonly kind: 'lost'; readonly detail: string }
  | NotAccepted
  | Refused;

export type Provider = PolledProvider | HeldProvider;

/** Takes an event and its detail for the log of the operator. */
export type Warn = (event: string, detail: string) => void;

/** What a provider speaks to its upstream through. */
export type UpstreamClient = Pick<ProviderClient, 'call' | 'download'>;
