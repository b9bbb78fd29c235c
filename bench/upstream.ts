import { z } from 'zod';
import { waitFor } from '../test/support/wait-for.ts';
import { startChild } from './child.ts';

/**
 * The fake upstream in a separate process. Its jobs are identified by their
 * prompts.
 */
export type Upstream = {
  readonly baseUrl: string;
  readonly began: ReadonlySet<string>;
  /** The end of each job, in Unix milliseconds with fractions. */
  readonly done: ReadonlyMap<string, number>;
  release(prompt: string): void;
  /**
   * Returns the polls in each full second since this time (Unix milliseconds).
   */
  pollsSince(at: number): Promise<readonly number[]>;
  stop(): Promise<void>;
};

const saidSchema = z.union([
  z.object({ baseUrl: z.string() }),
  z.object({ began: z.string() }),
  z.object({ done: z.string(), at: z.number() }),
  z.object({ polls: z.array(z.object({ second: z.number(), count: z.number() })) }),
]);

export async function startUpstream(): Promise<Upstream> {
  const child = startChild('./fake-ark.js', process.env);
  const [began, done] = [new Set<string>(), new Map<string, number>()];
  let baseUrl: string | undefined;
  let polls: readonly { readonly second: number; readonly count: number }[] | undefined;
  child.onSaid((word) => {
    const said = saidSchema.parse(word);
    if ('baseUrl' in said) baseUrl = said.baseUrl;
    if ('began' in said) began.add(said.began);
    if ('done' in said) done.set(said.done, said.at);
    if ('polls' in said) polls = said.polls;
  });
  return {
    baseUrl: await waitFor('the upstream', () => baseUrl),
    began,
    done,
    release: (prompt) => child.tell({ release: prompt }),
    pollsSince: async (at) => {
      polls = undefined;
      child.tell({ ask: 'polls' });
      const counted = new Map((await waitFor('the polls', () => polls)).map(({ second, count }) => [second, count]));
      const [first, now] = [Math.ceil(at / 1000), Math.floor(Date.now() / 1000)];
      return Array.from({ length: now - first }, (_, index) => counted.get(first + index) ?? 0);
    },
    stop: () => child.stop(),
  };
}
