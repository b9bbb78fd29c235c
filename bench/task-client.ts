import { z } from 'zod';
import { askUntilTaken, openCaller, rawRequest, type RawAnswer } from './caller.ts';
import { inParallel } from './load.ts';
import type { BenchAccount } from './service.ts';

/** The request of every load, for a model whose provider takes no time. */
export const taskBody = {
  model: 'videogen-2.0-fast',
  input: { prompt: 'a paper boat on a rainy street [[instant]]', duration: 4, ratio: '16:9' },
};

const created = z.object({ data: z.object({ taskId: z.string() }) });
const record = z.object({ data: z.object({ state: z.string() }) });

/** A client of one account on one connection. */
export type TaskClient = {
  create(prompt?: string, callBackUrl?: string): Promise<{ readonly taskId: string }>;
  stateOf(taskId: string): Promise<string>;
  close(): void;
};

export function openTaskClient(baseUrl: string, { key }: BenchAccount): TaskClient {
  const caller = openCaller(baseUrl);
  return {
    create: async (prompt = taskBody.input.prompt, callBackUrl) => {
      const body = { ...taskBody, input: { ...taskBody.input, prompt }, ...(callBackUrl && { callBackUrl }) };
      const answer = await askUntilTaken(caller, rawRequest('POST', '/api/v1/jobs/createTask', { key, body }));
      return created.parse(parsed(answer)).data;
    },
    stateOf: async (taskId) => {
      const answer = await askUntilTaken(
        caller,
        rawRequest('GET', `/api/v1/jobs/recordInfo?taskId=${taskId}`, { key }),
      );
      return record.parse(parsed(answer)).data.state;
    },
    close: () => caller.close(),
  };
}

/**
 * Creates `count` tasks, shared among the clients, each of which creates one
 * after the other.
 */
export async function createAll(clients: readonly TaskClient[], count: number, callBackUrl?: string): Promise<void> {
  await Promise.all(
    clients.map((client, index) => {
      const share = Math.floor(count / clients.length) + (index < count % clients.length ? 1 : 0);
      return inParallel(share, 1, () => client.create(undefined, callBackUrl));
    }),
  );
}

function parsed({ status, body }: RawAnswer): unknown {
  if (status !== 200) throw new Error(`the service answered ${status}: ${body.slice(0, 300)}`);
  return JSON.parse(body);
}
