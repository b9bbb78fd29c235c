/** The Temporal task queues of one installation; workers may serve any of them. */
export type TaskQueues = {
  /** Workflows, and the short activities on database and store. */
  readonly main: string;
  /** `generateVideo`, alone: its workers are limited by CPU or by an upstream's concurrency. */
  readonly generation: string;
  /** `sendCallback`, alone: slow receivers must not hold up money or media. */
  readonly callbacks: string;
};

export function taskQueuesOf(main: string): TaskQueues {
  return { main, generation: `${main}-generation`, callbacks: `${main}-callbacks` };
}
