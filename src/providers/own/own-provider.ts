import { z } from 'zod';
import { frameSize } from '../../catalogue/media/frame-size.ts';
import {
  classifyCreate,
  codedErrorIn,
  type CreateRules,
  answerOrErrorOf,
  storableUpstreamError,
} from '../classify-upstream-answers.ts';
import type {
  UpstreamErrorReason,
  FrozenConfig,
  JobRequest,
  JobStatus,
  PolledProvider,
  RequestBody,
} from '../provider-contract.ts';
import { createJobObjectReader, type EndState, type JobObjectRules } from '../jobs/vendor-job-object.ts';
import { unreadableLookup } from '../jobs/pick-job-of-lost-create.ts';
import { adaptiveRatioImage, imageDataUrlsByRole } from '../requests/media-by-role-and-data-urls.ts';
import { createPolledProvider, type PolledProviderDeps, requestTimeoutsAfterCreate } from '../jobs/polled-provider.ts';
import { jsonBody } from '../requests/request-bodies.ts';
import { seedOf, inputWithoutMediaUrls } from '../requests/placeholder-values-and-template-media.ts';

/** `config.options.parameters` reach the server unchanged. */
export type OwnProviderDeps = PolledProviderDeps & { readonly uploads?: boolean };

type Named = { readonly jobKey: string };

/** The bounds of requests and answers that docs/providers/own.md promises. */
const [maxImageBytes, maxAnswerBytes] = [60_000_000, 64 * 1024];

/** Speaks the protocol of docs/providers/own.md. We name each job and a repeated PUT makes no second one, so a lost response never leads to a second job. */
export function createOwnProvider(deps: OwnProviderDeps): PolledProvider {
  const { config, client, uploads = false, submitTimeoutMs, warn } = deps;
  const records = createJobObjectReader(recordRules, warn);
  const call = (method: string, { jobKey }: Named, timeoutMs: number, signal: AbortSignal, body?: RequestBody) =>
    answerOrErrorOf(client.call(method, `/jobs/${jobKey}`, { timeoutMs, signal, maxBytes: maxAnswerBytes, body }));
  return createPolledProvider(deps, {
    namesJobs: true,
    forgetsJobs: true,
    clips: 'link',
    uploads,
    submit: async (request, signal) => {
      const body = await ownJobBody(request, config);
      return classifyCreate(await call('PUT', request, submitTimeoutMs, signal, body), createRules(request));
    },
    recover: async (lost, signal) => {
      const { jobKey } = lost;
      const found = records.read(await call('GET', lost, requestTimeoutsAfterCreate.recoverMs, signal), jobKey);
      if ('record' in found) return { kind: 'found', id: jobKey };
      if (found.status.state === 'missing') return { kind: 'not_created' };
      return { kind: 'later', afterMs: found.status.retryAfterMs ?? unreadableLookup.afterMs };
    },
    statusOf: async (job, signal) =>
      records.statusOf(await call('GET', job, requestTimeoutsAfterCreate.statusMs, signal), job),
    cancel: async (job, signal) =>
      records.cancelOutcomeOf(await call('DELETE', job, requestTimeoutsAfterCreate.cancelMs, signal), job),
  });
}

/** The version of the protocol in docs/providers/own.md. A server rejects every other one. */
export const protocolVersion = 2;

/** The body of a PUT: the whole input without the client's addresses, with our copies of the media instead. */
export async function ownJobBody(
  request: JobRequest,
  { upstreamModel, options }: Pick<FrozenConfig, 'upstreamModel' | 'options'>,
): Promise<RequestBody> {
  const media = await request.media();
  const { options: chosen = {}, ...input } = request.input;
  const { widthPx, heightPx } = frameSize(input.resolution, input.ratio, adaptiveRatioImage(media));
  const { videos, audios } = request.mediaLinks;
  return jsonBody({
    version: protocolVersion,
    model: upstreamModel,
    input: {
      ...inputWithoutMediaUrls(input),
      seed: seedOf(request),
      options: chosen,
      width: widthPx,
      height: heightPx,
    },
    media: { ...(await imageDataUrlsByRole(media, maxImageBytes)), videos, audios },
    parameters: options['parameters'] ?? {},
    deadlineSeconds: Math.ceil(request.deadlineMs / 1000),
    resultUpload: request.resultUpload,
  });
}

const recordSchema = z.object({
  id: z.string(),
  status: z.string(),
  progress: z.number().min(0).max(100).optional().catch(undefined),
  error: z
    .object({ code: z.string(), message: z.string().catch('') })
    .optional()
    .catch(undefined),
  uploaded: z.boolean().optional().catch(undefined),
  cost: z
    .object({ micros: z.int().nonnegative(), currency: z.string().regex(/^[A-Z]{3}$/) })
    .optional()
    .catch(undefined),
});

type JobRecord = z.infer<typeof recordSchema>;

const recordRules: JobObjectRules<JobRecord> = {
  recordIn: (body) => recordSchema.safeParse(body).data,
  isMissing: (body, status) => status === 404 && codedErrorIn(body)?.code === 'not_found',
  states: {
    queued: 'queued',
    running: 'running',
    succeeded: 'succeeded',
    failed: 'failed',
    canceled: 'canceled',
    cancelled: 'canceled',
  },
  endOf,
};

function endOf({ id, error, uploaded = false, cost: reported }: JobRecord, state: EndState): JobStatus {
  const cost = reported && { cost: { ...reported, basis: 'reported' as const } };
  const result = { url: `/jobs/${id}/video` };
  if (state === 'succeeded') return { state, result, ...(uploaded && { isUploaded: true }), ...cost };
  return { state: 'failed', error: upstreamErrorOf(error?.code ?? state, error?.message ?? ''), ...cost };
}

const errorKinds: Readonly<Record<string, UpstreamErrorReason['kind']>> = {
  content_rejected: 'content',
  image_invalid: 'image',
  input_invalid: 'input',
};

function upstreamErrorOf(code: string, detail: string): UpstreamErrorReason {
  const kind = Object.hasOwn(errorKinds, code) ? errorKinds[code] : undefined;
  return storableUpstreamError(kind ?? 'upstream', code, detail);
}

function createRules({ jobKey }: Named): CreateRules {
  return {
    errorOf: codedErrorIn,
    jobOf: (body) => (recordSchema.safeParse(body).data?.id === jobKey ? { id: jobKey } : undefined),
    classify: ({ status, code = '', detail }) => {
      if (status === 503) return { kind: 'not_accepted', reason: 'busy', detail };
      // The job exists already, and is looked up as after a lost answer.
      if (status === 409) return { kind: 'unknown', detail };
      const isRefused = status === 400 || status === 413 || status === 422;
      return isRefused ? { kind: 'refused', error: upstreamErrorOf(code, detail) } : undefined;
    },
  };
}
