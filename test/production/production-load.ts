import { createHash } from 'node:crypto';
import { type Client, createClient, type VideogenError } from '../../clients/typescript/src/index.ts';
import { setAccountLimits } from '../../src/accounts/accounts.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { createTestAccount } from '../support/service/test-service.ts';
import type { Topology } from './topology.ts';

/** One task of a client, and what came of it. */
export type Order = {
  /** Begins the prompt of the task, and is that of no other. */
  readonly nonce: string;
  readonly client: Client;
  taskId?: string;
  creditsCharged?: number;
  /** The path that its callback goes to. */
  readonly callbackPath: string;
};

export type Load = {
  readonly orders: readonly Order[];
  /** Calls of the client that threw, in words. What a client counts: after the repeats that its documentation promises. */
  readonly failed: readonly string[];
  /** Calls of the client that succeeded. */
  calls(): number;
  /** Attempts that a client repeated, by reason. */
  readonly repeated: ReadonlyMap<string, number>;
  readonly receiver: CallbackReceiver;
  /** The account of each client, and what it had. */
  readonly accounts: readonly { readonly accountId: string; readonly opened: number }[];
  /** Lets every client finish what it has begun, downloads included. */
  finish(): Promise<void>;
  close(): Promise<void>;
};

const opened = 10_000_000;

/** Most tasks are short; some run here or upstream for as long as a process takes to restart. */
const kinds = [
  { model: 'videogen-2.0-fast', directives: '[[instant]]' },
  { model: 'remote-model', directives: '' },
  { model: 'videogen-2.0-fast', directives: '[[instant]] [[slow 4s]]' },
] as const;

/**
 * Clients that create, wait, download and read, one task after the other, through the load balancer and by the official client with
 * its usual settings. Each has an account.
 */
export async function startLoad(topology: Topology, clients: number): Promise<Load> {
  const { database } = topology.world;
  const receiver = await startCallbackReceiver();
  const orders: Order[] = [];
  const failed: string[] = [];
  const repeated = new Map<string, number>();
  const over = new AbortController();
  let calls = 0;
  const called = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      const answer = await work();
      calls += 1;
      return answer;
    } catch (error) {
      failed.push(`${what}: ${String(error)}`);
      return undefined;
    }
  };
  const accounts = await Promise.all(
    Array.from({ length: clients }, async () => {
      const account = await createTestAccount(database, opened);
      await setAccountLimits(database.db, account.accountId, { maxUnfinishedTasks: 100_000, createRate: undefined });
      return { ...account, opened };
    }),
  );
  const runs = accounts.map(async ({ key, accountId }, index) => {
    const client = createClient({
      baseUrl: topology.baseUrl,
      key,
      onRetry: ({ error }) => count(repeated, reasonOf(error)),
    });
    for (let round = 0; !over.signal.aborted; round += 1) {
      const order: Order = { nonce: `order ${round} of ${accountId}.`, client, callbackPath: `/${accountId}/${round}` };
      orders.push(order);
      const { model, directives } = kinds[(index + round) % kinds.length] ?? kinds[0];
      const request = {
        model,
        input: { prompt: `${order.nonce} ${directives}`, duration: 4 },
        callBackUrl: receiver.url + order.callbackPath,
      };
      const created = await called(`create ${order.nonce}`, () => client.createTask(request));
      if (created === undefined) continue;
      Object.assign(order, created);
      await called(`wait ${order.nonce}`, () => client.waitForTask(created.taskId));
      await called(`download ${order.nonce}`, () => downloaded(client, created.taskId));
      await called(`credits ${order.nonce}`, () => client.credits());
      await called(`list ${order.nonce}`, () => client.listTasks());
    }
  });
  return {
    orders,
    failed,
    calls: () => calls,
    repeated,
    receiver,
    accounts,
    finish: async () => {
      over.abort();
      await Promise.all(runs);
    },
    close: () => receiver.close(),
  };
}

/** The SHA-256 of a task's video, read to its end. */
export async function downloaded(client: Client, taskId: string): Promise<string> {
  const response = await client.download(taskId);
  return createHash('sha256')
    .update(Buffer.from(await response.arrayBuffer()))
    .digest('hex');
}

function reasonOf({ kind, code, error, message, retryAfterSeconds }: VideogenError): string {
  if (kind === 'unreachable') return 'unreachable';
  const silence = retryAfterSeconds === undefined ? ' without Retry-After' : '';
  return `${code ?? kind} ${error ?? message.slice(0, 60)}${silence}`;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, 1 + (counts.get(name) ?? 0));
}
