import type { JsonObject } from '../../platform/text/json.ts';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { fillPlaceholders } from '../../catalogue/providers/input-template-placeholders.ts';
import {
  jsonObjectIn,
  classifyCreate,
  type CreateRules,
  detailOfAnswerOrError,
  type AnswerOrError,
  answerOrErrorOf,
  storableText,
} from '../classify-upstream-answers.ts';
import type {
  FrozenConfig,
  RunOutcome,
  RunProvider,
  JobRequest,
  Refused,
  RequestBody,
  RunContext,
  UpstreamClient,
  Warn,
  Workspace,
} from '../provider-contract.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { maxVideoBytes } from '../../platform/outbound/resumable-download.ts';
import { downloadResult } from '../download-result.ts';
import { mediaDataUrlsByRole, refusedAsTooLarge } from '../requests/media-by-role-and-data-urls.ts';
import { jsonBody } from '../requests/request-bodies.ts';
import { fetchMediaOfTemplate, taskPlaceholderValues } from '../requests/placeholder-values-and-template-media.ts';
import type { PolledProviderDeps } from '../jobs/polled-provider.ts';
import { readJsonAndSaveVideo } from './save-video-of-json.ts';

/** `config.options.parameters`: `input`, the inputs of the model with placeholders, and size and frame rate. */
export type CogProviderDeps = Pick<PolledProviderDeps, 'name' | 'config' | 'client' | 'warn'> & {
  /** The interval at which a held request is checked until the server is known to run it. */
  readonly startCheckMs?: number;
};

/** All images of a request as data URLs, and all of its clips. */
const [maxImageBytes, maxClipBytes] = [30_000_000, 30_000_000];
/** The answer carries the video and the images in base64. */
const maxAnswerBytes = 1.5 * maxVideoBytes;
const [healthTimeoutMs, joinedPauseMs, defaultStartCheckMs] = [10_000, 2_000, 5_000];
/** The longest deadline; the signal ends a prediction earlier. */
const maxRunMs = 86_400_000;

/**
 * Speaks to a model in a cog container. A prediction ends with the connection that requested it, and every way to read it risks a
 * second run, so one PUT is held until its answer contains the video.
 */
export function createCogProvider({
  name,
  config,
  client,
  warn,
  startCheckMs = defaultStartCheckMs,
}: CogProviderDeps): RunProvider {
  return {
    name,
    config,
    runs: 'held',
    images: 'file',
    check: async (signal) => {
      const health = await healthOf(client, signal);
      return health === '' ? { state: 'unclear', detail: 'no health' } : { state: 'missing' };
    },
    run: async (request, report, to) => {
      const body = await predictionBody(request, config);
      if ('kind' in body) return body;
      const path = join(to.workFolder, 'video');
      const predict = () =>
        answerOrErrorOf(
          client.call('PUT', `/predictions/${request.jobKey}`, {
            body,
            timeoutMs: maxRunMs,
            maxBytes: maxAnswerBytes,
            signal: to.signal,
            readBody: (chunks) => readJsonAndSaveVideo(chunks, path),
          }),
        );
      for (;;) {
        const reply = await whileCheckingStart({ client, to, startCheckMs }, predict);
        to.signal.throwIfAborted();
        const prediction = predictionIn(reply);
        if (prediction === undefined) return await notRun(client, reply, to.signal);
        if (!isRunning(prediction)) return await ended(prediction, client, to, warn);
        to.onStarted();
        // An attempt that died has begun this prediction, and the server has not noticed its broken connection yet. When the prediction
        // ends, the next PUT runs it again: computing time is lost, but no result.
        report(progressIn(prediction.logs));
        await delay(joinedPauseMs, undefined, { signal: to.signal });
      }
    },
  };
}

/**
 * An answer comes only at the end of a prediction. A server rejects immediately what it cannot run, so one that responds to its health
 * check while it holds a request runs it; an address that does not respond runs nothing.
 */
async function whileCheckingStart<T>(
  { client, to, startCheckMs }: { client: UpstreamClient; to: RunContext; startCheckMs: number },
  request: () => Promise<T>,
): Promise<T> {
  const answered = new AbortController();
  const signal = AbortSignal.any([to.signal, answered.signal]);
  const checkStart = async () => {
    for (;;) {
      await delay(startCheckMs, undefined, { signal });
      const health = await healthOf(client, signal);
      if (!signal.aborted && (health === 'BUSY' || health === 'READY')) return to.onStarted();
    }
  };
  checkStart().catch(() => {}); // It rejects only with the signal.
  return await request().finally(() => answered.abort());
}

async function predictionBody(request: JobRequest, config: FrozenConfig): Promise<RequestBody | Refused> {
  const { input: template } = inputSchema.parse(config.options['parameters']);
  const { used, shape } = await fetchMediaOfTemplate(template, request);
  const media = await mediaDataUrlsByRole(used, { maxImageBytes, maxClipBytes });
  if (media === undefined) return refusedAsTooLarge('reference media of this size');
  return jsonBody({ input: fillPlaceholders(template, taskPlaceholderValues(request, config, shape, media)) });
}

const inputSchema = z.object({ input: z.record(z.string(), z.json()) });
const predictionSchema = z.object({
  status: z.enum(['starting', 'processing', 'succeeded', 'failed', 'canceled']),
  logs: z.string().catch(''),
  error: z.string().nullish().catch(undefined),
  output: z.unknown().optional(),
});

type Prediction = z.output<typeof predictionSchema>;

/** Returns the prediction in a 200 or 202; undefined for any other answer, and for an incomplete body. */
function predictionIn(reply: AnswerOrError): Prediction | undefined {
  if ('error' in reply || (reply.answer.status !== 200 && reply.answer.status !== 202)) return undefined;
  const body = jsonObjectIn(reply.answer);
  return body && predictionSchema.safeParse(body).data;
}

function isRunning({ status }: Prediction): boolean {
  return status === 'starting' || status === 'processing';
}

/** The last `NN%` that the model has printed. */
function progressIn(logs: string): number {
  const [, percent] = /(\d{1,3})%[^%]*$/.exec(logs.slice(-200)) ?? [];
  return Math.min(99, Number(percent ?? 0));
}

/** The error of a prediction whose worker process died while the server itself continued. */
const crash = 'Worker crashed';

async function ended(prediction: Prediction, client: UpstreamClient, to: Workspace, warn: Warn): Promise<RunOutcome> {
  const { status, error, output } = prediction;
  const detail = storableText(error ?? status);
  if (status === 'canceled' || error === crash) return { kind: 'lost', detail };
  if (status !== 'succeeded') return { kind: 'failed', error: { kind: 'upstream', detail } };
  const video = videoIn(output);
  if (video === undefined) return { kind: 'failed', error: { kind: 'upstream', detail: 'the output is no video' } };
  if (video.startsWith('data:')) return { kind: 'video', video: { path: join(to.workFolder, 'video') } };
  return { kind: 'video', video: await downloadResult(client, async () => video, to, warn) };
}

/** An output is one file or a list of them: a data URL, or an address when the server uploads its files. */
function videoIn(output: unknown): string | undefined {
  const outputs = Array.isArray(output) ? output : [output];
  return outputs.find(
    (one): one is string =>
      typeof one === 'string' && (/^data:video\/[\w.+-]{1,50};base64,/.test(one) || /^https?:\/\//.test(one)),
  );
}

const rules: CreateRules = {
  errorOf: ({ error, detail }: JsonObject) => {
    if (typeof error === 'string') return { message: error };
    return detail === undefined ? undefined : { message: JSON.stringify(detail) };
  },
  // `predictionIn` reads a prediction that runs or has ended before these rules apply.
  jobOf: () => undefined,
  classify: ({ status, detail }) => {
    if (status === 400 || status === 422) return { kind: 'refused', error: { kind: 'input', detail } };
    if (status === 404 || status === 405) return { kind: 'not_accepted', reason: 'operator', detail };
    return status === 409 || status === 503 ? { kind: 'not_accepted', reason: 'busy', detail } : undefined;
  },
};

const deadStates = ['UNHEALTHY', 'DEFUNCT', 'SETUP_FAILED'];

/** A server whose worker has died reports "at capacity" forever; only its health distinguishes it from a busy one. */
async function notRun(client: UpstreamClient, reply: AnswerOrError, signal: AbortSignal): Promise<RunOutcome> {
  if ('error' in reply && reply.error instanceof OutboundError && reply.error.kind === 'too_large')
    return { kind: 'failed', error: { kind: 'upstream', detail: detailOfAnswerOrError(reply) } };
  const outcome = classifyCreate(reply, rules);
  if (outcome.kind === 'unknown' || outcome.kind === 'accepted')
    return { kind: 'lost', detail: detailOfAnswerOrError(reply) };
  if (outcome.kind === 'refused' || outcome.reason !== 'busy') return outcome;
  const health = await healthOf(client, signal);
  return deadStates.includes(health)
    ? { ...outcome, reason: 'operator', detail: `${outcome.detail}; health: ${health}` }
    : outcome;
}

/** The status of the server; empty when it does not respond. */
async function healthOf(client: UpstreamClient, signal: AbortSignal): Promise<string> {
  const limits = { timeoutMs: healthTimeoutMs, maxBytes: 256 * 1024, signal };
  const health = await answerOrErrorOf(client.call('GET', '/health-check', limits));
  const text = 'error' in health ? '' : health.answer.body.toString('utf8');
  return /"status": ?"([A-Z_]+)"/.exec(text)?.[1] ?? '';
}
