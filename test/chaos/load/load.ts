import { setTimeout as delay } from 'node:timers/promises';
import { call } from '../../support/service/call-api.ts';
import type { CreateAnswer, Wish } from '../judge/evidence.ts';
import type { KindUpstream } from './kind-upstreams.ts';
import type { Random } from '../seeded-random.ts';
import { createRequestMaker, type Request } from './random-requests.ts';

/** A client of the service: an account of its own, a key, and an address for callbacks. */
export type Client = { readonly index: number; readonly key: string; readonly callBackUrl: string };

export type Load = {
  readonly wishes: readonly Wish[];
  /** Tasks that were seen to go back. */
  readonly setbacks: readonly string[];
  /** The number of requests for a fault of the provider, by kind. */
  readonly injected: ReadonlyMap<string, number>;
  /** Repeats every create that has a key and no definite answer until it has one; for `limitMs` at most. */
  repeatUnanswered(limitMs: number): Promise<void>;
};

export type LoadOptions = {
  readonly baseUrls: readonly [string, ...string[]];
  readonly clients: readonly [Client, ...Client[]];
  readonly random: Random;
  readonly durationMs: number;
  /** The models of the upstreams. */
  readonly kinds: readonly KindUpstream[];
};

const createEveryMs = 500;
/** Clients poll every few seconds, as docs/api.md advises. Over 100 tasks are open at a time; more reads would starve the service. */
const readEveryMs = 2_000;

type OpenWish = Wish & { readonly answers: CreateAnswer[]; readonly send: () => Promise<void> };

/** Steady creates by several clients, for `durationMs`; every response is recorded, and every task is read repeatedly. */
export async function runLoad(options: LoadOptions): Promise<Load> {
  const wishes: OpenWish[] = [];
  const setbacks: string[] = [];
  const injected = new Map<string, number>();
  const running: Promise<unknown>[] = [];
  const makeRequest = createRequestMaker(options.random, options.kinds);
  for (const endsAt = Date.now() + options.durationMs; Date.now() < endsAt; await delay(createEveryMs)) {
    const wish = makeWish(options, makeRequest, wishes.length, injected);
    wishes.push(wish);
    running.push(insist(wish, endsAt).then(() => watch(options, wish, endsAt, setbacks)));
    // A client behind an impatient proxy sends two concurrent requests with one key.
    if (wish.hasKey && options.random.chance(0.2)) running.push(wish.send());
  }
  await Promise.all(running);
  const repeatUnanswered = async (limitMs: number) => {
    const giveUpAt = Date.now() + limitMs;
    await Promise.all(wishes.map((wish) => insist(wish, giveUpAt)));
  };
  return { wishes, setbacks, injected, repeatUnanswered };
}

function makeWish(
  { random, clients, baseUrls }: LoadOptions,
  makeRequest: (nonce: string, callBackUrl: string) => Request,
  ordinal: number,
  injected: Map<string, number>,
): OpenWish {
  const client = random.pick(clients);
  const nonce = `wish-${ordinal}-`;
  const { body, charge, fault, end, otherEnd, shortOrder } = makeRequest(nonce, client.callBackUrl);
  if (fault !== undefined) injected.set(fault, 1 + (injected.get(fault) ?? 0));
  const hasKey = random.chance(0.6);
  const headers = { 'content-type': 'application/json', ...(hasKey && { 'idempotency-key': nonce }) };
  const answers: CreateAnswer[] = [];
  const send = async () => {
    const api = random.between(0, baseUrls.length - 1);
    const target = { baseUrl: baseUrls[api] ?? baseUrls[0], key: client.key };
    answers.push(await create(target, { method: 'POST', headers, body: JSON.stringify(body) }, api));
  };
  return { nonce, client: client.index, hasKey, charge, end, otherEnd, shortOrder, answers, send };
}

type Target = Parameters<typeof call>[0];

async function create(target: Target, request: RequestInit, api: number): Promise<CreateAnswer> {
  try {
    const { status, body } = await call(target, '/api/v1/jobs/createTask', request);
    const { taskId, creditsCharged } = body.data;
    return {
      status,
      msg: body.msg,
      taskId: typeof taskId === 'string' ? taskId : undefined,
      creditsCharged: typeof creditsCharged === 'number' ? creditsCharged : undefined,
      api,
      atMs: Date.now(),
    };
  } catch {
    // Not connected, cut off, or too late: the client has no response.
    return { status: undefined, msg: '', taskId: undefined, creditsCharged: undefined, api, atMs: Date.now() };
  }
}

/** Sends a wish; with a key again and again until it has a definite answer, without one only once. */
async function insist(wish: OpenWish, giveUpAt: number): Promise<void> {
  if (wish.answers.length === 0) await wish.send();
  while (wish.hasKey && !wish.answers.some(isDefinite) && Date.now() < giveUpAt) {
    await delay(500);
    await wish.send();
  }
}

function isDefinite({ status }: CreateAnswer): boolean {
  return status !== undefined && status < 500 && status !== 429;
}

const order = ['waiting', 'queuing', 'generating', 'success', 'fail'];
/** Of a task that has ended. In two hours, tasks that are read to the end of the run would keep this process from doing anything else. */
const readsOfEnd = 10;

/** Reads the task of a wish as its client would, and for some time after its end; its state must never go back. */
async function watch(options: LoadOptions, wish: OpenWish, endsAt: number, setbacks: string[]): Promise<void> {
  const taskId = wish.answers.find(({ status }) => status === 200)?.taskId;
  const client = options.clients[wish.client];
  if (taskId === undefined || client === undefined) return;
  let ends = 0;
  for (let last = 'waiting'; Date.now() < endsAt && ends < readsOfEnd; await delay(readEveryMs)) {
    const baseUrl = options.random.pick(options.baseUrls);
    const path = `/api/v1/jobs/recordInfo?taskId=${taskId}`;
    const { status, body } = await call({ baseUrl, key: client.key }, path).catch(() => unanswered);
    if (status === 404) setbacks.push(`task ${taskId} was accepted, and then not found`);
    if (status !== 200) continue;
    const state = String(body.data['state']);
    const isBack = order.indexOf(state) < order.indexOf(last) || (last === 'success' && state === 'fail');
    if (isBack) setbacks.push(`task ${taskId} was ${last}, and then ${state}`);
    last = state;
    if (state === 'success' || state === 'fail') ends += 1;
  }
}

const unanswered = { status: 0, body: { data: {} as Record<string, unknown> } };
