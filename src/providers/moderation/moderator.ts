import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MetricEventSink } from '../../platform/metrics/metric-event-sink.ts';
import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { SecretReader } from '../../catalogue/file/provider-schema.ts';
import type { OwnEndpoint } from '../../platform/outbound/guard/guard.ts';
import { createSlotsPerKey, runWithDeadline } from '../../platform/outbound/deadlines-and-slots.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { createProviderClient } from '../../platform/outbound/provider-client.ts';
import { type JsonObject, parsedJson } from '../../platform/text/json.ts';
import { type ModeratedContent, hookShapes } from './hook-shapes.ts';

/** An endpoint that decides whether a video may be made of a prompt and images. */
export type ModerationEndpoint = {
  readonly shape: keyof typeof hookShapes;
  readonly url: string;
  /** The model that the shape `openai` names. */
  readonly model: string;
  /** Returns the bearer token; read for each request, so that a rotated one counts. */
  readonly readKey: (() => string) | undefined;
  readonly timeoutMs: number;
  readonly onError: 'allow' | 'refuse';
  /** Concurrent requests of this process. */
  readonly concurrency: number;
};

export type ModerationVerdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly category: string }
  /** There was no usable answer, and the hook refuses what it could not check. */
  | { readonly kind: 'unchecked' };

export type Moderator = {
  /** True if a hook checks the creates of this model. */
  readonly checks: (model: string) => boolean;
  /** Never rejects. `imageUrls` are those that the client gave. */
  readonly check: (content: ModeratedContent & { readonly model: string }) => Promise<ModerationVerdict>;
  readonly close: () => Promise<void>;
};

export const moderationOutcomes = ['allowed', 'refused', 'error'] as const;
export type ContentCheckedEvent = {
  readonly kind: 'content_checked';
  /** `error`: the moderation hook gave no usable answer in time. */
  readonly outcome: (typeof moderationOutcomes)[number];
  readonly durationMs: number;
};

export type ModeratorDeps = {
  /** Checks the models that declare no moderation of their own. */
  readonly installation: ModerationEndpoint | undefined;
  readonly catalogue: () => Pick<Catalogue, 'models'>;
  readonly readSecret: SecretReader;
  /** Returns the address at which the hook can read an image. */
  readonly linkTo: (url: string) => string;
  readonly own: readonly OwnEndpoint[];
  readonly events: MetricEventSink<ContentCheckedEvent>;
  readonly log: { readonly warn: (problem: HookProblem, message: string) => void };
};

/** The reason why a hook gave no usable answer. */
export type HookProblem = {
  readonly model: string;
  readonly onError: ModerationEndpoint['onError'];
  readonly kind: string;
  readonly detail: string;
};

/** An answer of OpenAI has 3 kB. */
const maxAnswerBytes = 256 * 1024;
/** While the hook is slow, `onError` decides immediately about further creates. */
const maxWaiting = 1_000;
/** More than any catalogue has, including hooks of earlier versions of its file. */
const maxOpenHooks = 200;

/** Checks content by the hook of its model. Identical content that is checked at the same time is sent once. */
export function createModerator(deps: ModeratorDeps): Moderator {
  const closing = new AbortController();
  const opened = new LRUCache<string, OpenHook>({ max: maxOpenHooks, dispose: (hook) => void hook.close() });
  const running = new Map<string, Promise<ModerationVerdict>>();
  const hookOf = (model: string) => hookOfModel(deps, model);

  function open({ id, ...hook }: NamedHook): OpenHook {
    const known = opened.get(id) ?? openHook(hook, deps.own);
    opened.set(id, known);
    return known;
  }

  async function decide(
    hook: NamedHook,
    content: ModeratedContent & { readonly model: string },
  ): Promise<ModerationVerdict> {
    const startedAt = performance.now();
    const finish = (outcome: 'allowed' | 'refused' | 'error') =>
      deps.events.emit({ kind: 'content_checked', outcome, durationMs: performance.now() - startedAt });
    try {
      const linked = { ...content, imageUrls: content.imageUrls.map(deps.linkTo) };
      const category = await categoryFrom(open(hook), { ...hook, signal: closing.signal }, linked);
      finish(category === undefined ? 'allowed' : 'refused');
      return category === undefined ? { kind: 'allowed' } : { kind: 'refused', category };
    } catch (error) {
      finish('error');
      const { onError } = hook;
      deps.log.warn({ model: content.model, onError, ...explain(error) }, 'moderation hook failed');
      return onError === 'allow' ? { kind: 'allowed' } : { kind: 'unchecked' };
    }
  }

  return {
    checks: (model) => hookOf(model) !== undefined,
    check: async (content) => {
      const hook = hookOf(content.model);
      if (hook === undefined) return { kind: 'allowed' };
      const key = hash('sha256', JSON.stringify([content.model, content.prompt, content.imageUrls]));
      const verdict = running.get(key) ?? decide(hook, content).finally(() => running.delete(key));
      running.set(key, verdict);
      return await verdict;
    },
    close: async () => {
      closing.abort();
      await Promise.all([...opened.values()].map((hook) => hook.close()));
    },
  };
}

/** `id`: equal for hooks that share a client and a limit. */
type NamedHook = ModerationEndpoint & { readonly id: string };

function hookOfModel({ installation, catalogue, readSecret }: ModeratorDeps, name: string): NamedHook | undefined {
  const own = catalogue().models.get(name)?.moderation;
  if (own === undefined) return installation && { ...installation, id: 'installation' };
  if (own.shape === 'none') return undefined;
  const { shape, url, key, timeoutSeconds, onError, concurrency } = own;
  const readKey = key === undefined ? undefined : () => readSecret(key)();
  const model = own.shape === 'openai' ? own.model : '';
  const id = JSON.stringify(own);
  return { id, shape, url, model, readKey, timeoutMs: timeoutSeconds * 1000, onError, concurrency };
}

type OpenHook = {
  readonly post: (body: JsonObject, signal: AbortSignal) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

function openHook({ url, readKey, concurrency, timeoutMs }: ModerationEndpoint, own: readonly OwnEndpoint[]): OpenHook {
  const credentials = (): Readonly<Record<string, string>> =>
    readKey === undefined ? {} : { authorization: `Bearer ${readKey()}` };
  const client = createProviderClient({ baseUrl: url, credentials, own });
  const slots = createSlotsPerKey({ maxHeld: concurrency, maxWaiting, maxWaitMs: timeoutMs });
  const post: OpenHook['post'] = async (body, signal) => {
    const bytes = JSON.stringify(body);
    const limits = { timeoutMs, maxBytes: maxAnswerBytes, signal };
    const answer = await slots.hold(url, signal, () =>
      client.call('POST', url, { ...limits, body: { contentType: 'application/json', bytes } }),
    );
    // A redirect would carry the prompt to an address that the operator did not choose.
    if (answer.status < 200 || answer.status > 299) throw new InvalidHookAnswerError(`status ${answer.status}`);
    const found = parsedJson(answer.body.toString('utf8'));
    if (found === undefined) throw new InvalidHookAnswerError('no JSON');
    return found;
  };
  return { post, close: client.close };
}

/** The answer of a hook does not have its shape. The message holds nothing of the answer, which may repeat the prompt. */
class InvalidHookAnswerError extends Error {
  override readonly name = 'InvalidHookAnswerError';
}

type CheckOptions = ModerationEndpoint & { readonly signal: AbortSignal };

/** Sends all requests within the time limit. A refusal counts also if another request fails. */
async function categoryFrom(
  { post }: OpenHook,
  { shape: name, model: hookModel, timeoutMs, signal: closing }: CheckOptions,
  content: ModeratedContent & { readonly model: string },
): Promise<string | undefined> {
  const shape = hookShapes[name];
  const requests = shape.requests(content, { ours: content.model, hook: hookModel });
  return await runWithDeadline(timeoutMs, [closing], async (signal) => {
    const answers = await Promise.allSettled(
      requests.map(async (body) => refusalIn(shape.refusalIn, await post(body, signal))),
    );
    const refusal = answers.find((answer) => answer.status === 'fulfilled' && answer.value !== undefined);
    if (refusal?.status === 'fulfilled') return refusal.value;
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return undefined;
  });
}

function refusalIn(read: (answer: unknown) => string | undefined, answer: unknown): string | undefined {
  try {
    return read(answer);
  } catch {
    throw new InvalidHookAnswerError('another shape');
  }
}

function explain(error: unknown): Pick<HookProblem, 'kind' | 'detail'> {
  if (error instanceof OutboundError) return { kind: error.kind, detail: error.detail };
  if (error instanceof InvalidHookAnswerError) return { kind: 'answer', detail: error.message };
  return { kind: 'setup', detail: error instanceof Error ? error.message : 'unknown' };
}
