import type { ReferenceImage } from '../domain/ports.ts';
import type { TaskInput } from '../domain/task.ts';

export type GenerationRequest = {
  readonly taskId: string;
  readonly model: string;
  readonly input: TaskInput;
  /** The reference images in order, fetched on the first call; throws a `TaskFault` when one is bad. */
  readonly images: () => Promise<readonly ReferenceImage[]>;
  /** An empty folder of this attempt, deleted after it. */
  readonly workFolder: string;
};

/**
 * Where the provider left the video, a file in `workFolder`, and beside it its poster where the provider delivers one, as many
 * upstreams do: a JPEG of the video's own size. A poster that is missing or is no such picture is no fault; it is then made from
 * the video, which costs more than all the rest of a task.
 */
export type GeneratedVideo = { readonly path: string; readonly posterPath?: string };

export type RecoveredJob =
  | { readonly kind: 'found'; readonly jobId: string }
  | { readonly kind: 'not_created' | 'unknown' };

/** One way to make a video. Every method throws `TaskFault` for what it expects; anything else is our fault and is retried. */
export type Provider = {
  readonly name: string;
  /** Its jobs run in `follow` and end with it; without it they run upstream, also when no worker follows them. */
  readonly isLocal?: boolean;
  /** Creates the upstream job and answers its id. Never called twice for one task unless the first call certainly created nothing. */
  submit(request: GenerationRequest, signal: AbortSignal): Promise<string>;
  /**
   * Finds the job of an earlier `submit` whose answer was lost: its id, `not_created` when there certainly is none, or
   * `unknown` when the provider cannot tell; then nothing is submitted again, because a second job costs money.
   */
  recover(request: Omit<GenerationRequest, 'images' | 'workFolder'>, signal: AbortSignal): Promise<RecoveredJob>;
  /** Follows the job to its end. Called again, with the same id, after a crash. `report` takes the progress, 0 to 100. */
  follow(
    jobId: string,
    request: GenerationRequest,
    report: (progress: number) => void,
    signal: AbortSignal,
  ): Promise<GeneratedVideo>;
  /** Asks once, without waiting: the video when the job has succeeded, undefined otherwise. */
  result(jobId: string): Promise<GeneratedVideo | undefined>;
  /** Stops the job; harmless for one that has ended or is unknown. */
  cancel(jobId: string): Promise<void>;
};
