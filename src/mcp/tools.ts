import type { ResourceLink, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { getCredits } from '../credits/credit-routes.ts';
import { ownTask } from '../http/authentication.ts';
import type { Context } from '../http/context.ts';
import { type EndpointOf, type Guards, parse } from '../http/define-endpoint.ts';
import type { ClientIdentity, DeepReadonly } from '../http/endpoint.ts';
import { existing } from '../http/errors.ts';
import { opaqueId, wholeNumber } from '../http/fields.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { idempotencyKeySchema } from '../http/idempotency-key.ts';
import { hostInlineMedia } from '../ingress/inline-media.ts';
import { maxUploadMegabytes, uploadFromUrl, uploadKinds } from '../media/upload.ts';
import { listModels } from '../models/model-routes.ts';
import { createTaskFor } from '../tasks/create-task.ts';
import { holdUntilEnd } from '../tasks/long-poll.ts';
import { quoteTaskPrice } from '../tasks/price-routes.ts';
import { mediaFields } from '../tasks/task-input.ts';
import { cancelTask, listTasksOfAccount } from '../tasks/task-routes.ts';
import { posterUrlOf, posterUrlSchema, presentTask, taskRecordSchema } from '../tasks/task-view.ts';
import { isFinal } from '../tasks/task.ts';

export type ToolCall = {
  readonly identity: ClientIdentity;
  readonly ctx: Context;
  readonly given: Readonly<Record<string, unknown>>;
};

/** `text` has the main facts of `data`, because some clients show a model only text. */
type ToolAnswer = { readonly data: object; readonly text: string; readonly links?: readonly ResourceLink[] };

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly guards: Guards;
  /** Takes the fields of a create request, besides those of `input`. */
  readonly takesTaskRequest?: true | undefined;
  readonly input: z.ZodType | undefined;
  readonly output: z.ZodType;
  readonly run: (call: ToolCall, deps: HttpDeps) => Promise<ToolAnswer>;
};

const readOnly = { readOnlyHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const path = '/mcp';

/** An endpoint as a tool: its query or body are the arguments, its data is the result. */
function toolOf<Data extends object>(
  endpoint: EndpointOf<Data>,
  described: Pick<Tool, 'name' | 'description'> & { readonly annotations?: ToolAnnotations },
  textOf: (data: DeepReadonly<Data>) => string,
): Tool {
  const { summary: title, query, body, data: output, takesTaskRequest } = endpoint;
  const input = takesTaskRequest === true ? undefined : (query ?? body);
  const run: Tool['run'] = async ({ identity, ctx, given }, deps) => {
    // A query has only text.
    const texts = Object.entries(given).map(([name, value]) => [name, typeof value === 'number' ? `${value}` : value]);
    const data = await endpoint.run({ identity, ctx, query: Object.fromEntries(texts), body: given }, deps);
    return { data, text: textOf(data) };
  };
  return { title, annotations: readOnly, ...described, guards: endpoint, takesTaskRequest, input, output, run };
}

const videoSchema = z.strictObject({ ...taskRecordSchema.shape, posterUrl: posterUrlSchema });
type Video = DeepReadonly<z.output<typeof videoSchema>>;

function linksOf({ taskId: name, resultJson: { resultUrls }, posterUrl }: Video): readonly ResourceLink[] {
  const videos = resultUrls.map((uri) => ({ uri, name: `${name}.mp4`, mimeType: 'video/mp4' }));
  const posters = posterUrl === null ? [] : [{ uri: posterUrl, name: `${name}.jpg`, mimeType: 'image/jpeg' }];
  return [...videos, ...posters].map((file) => ({ type: 'resource_link', ...file }));
}

function describeVideo(video: Video): string {
  const { taskId, state, progress, failCode, failMsg, creditsRefunded } = video;
  if (state === 'success') return [`Task ${taskId} succeeded.`, ...linksOf(video).map(({ uri }) => uri)].join('\n');
  if (state === 'fail') return `Task ${taskId} failed, ${failCode}: ${failMsg} ${creditsRefunded} credits came back.`;
  return `Task ${taskId} is ${state}, ${progress} %. Follow it with get_video.`;
}

/** Clients give up on a call after a minute. */
const wait = wholeNumber(0, 50).default(0).meta({ description: 'Seconds to wait for the end of the task.' });

async function readVideo({ identity, ctx }: Omit<ToolCall, 'given'>, deps: HttpDeps, taskId: string, seconds: number) {
  const { accountId } = identity.caller;
  const task = await ownTask(deps.db, taskId, accountId);
  const hold = { taskId, accountId, waitSeconds: seconds };
  const isHeld = !isFinal(task.state) && (await holdUntilEnd(ctx, deps.taskWaiters, hold));
  const now = isHeld ? existing(await deps.taskWaiters.find(taskId), 'task_not_found') : task;
  return { ...(await presentTask(deps, now)), posterUrl: posterUrlOf(deps, now) };
}

const generateInput = z.looseObject({ wait_seconds: wait, idempotency_key: idempotencyKeySchema.optional() });

const generateVideo: Tool = {
  name: 'generate_video',
  title: 'Generate a video',
  description:
    'Starts a video. It uses credits; get_price returns how many before. All of them come back if the task fails or is cancelled. A ' +
    'video takes a minute or more: wait with `wait_seconds`, then call get_video with the `taskId` until `state` is `success` or ' +
    '`fail`. An identical call within a minute returns the same task and uses no credits; to get another video from the same input, ' +
    'pass another `idempotency_key`.',
  annotations: { ...writes, openWorldHint: true, idempotentHint: false },
  guards: { path, scope: 'tasks:write', createsTask: true, refusesSuspended: true },
  takesTaskRequest: true,
  input: generateInput,
  output: z.strictObject({
    taskId: z.string(),
    creditsCharged: z.int().positive(),
    isRepeat: z.boolean().meta({ description: 'An earlier, identical call started the task.' }),
    video: videoSchema.optional().meta({ description: 'Absent if the key lacks the scope `tasks:read`.' }),
  }),
  run: async ({ identity, ctx, given }, deps) => {
    const { wait_seconds: seconds, idempotency_key: key, ...input } = parse(generateInput, given);
    const { caller } = identity;
    const request = { caller, ctx, input, dialect: 'native', idempotency: { key }, isRepeat: true };
    const accepted = await createTaskFor({ ...request, translate: (body, rules) => rules.parse(body) }, deps);
    const { taskId, creditsCharged } = accepted;
    const data = { taskId, creditsCharged, isRepeat: accepted.kind === 'replayed' };
    const text = data.isRepeat
      ? 'No credits were used: an identical call started this.'
      : `Uses ${creditsCharged} credits.`;
    // The task is accepted, so the call succeeds, whatever the wait for it does.
    const canRead = caller.scopes.includes('tasks:read');
    const video = canRead
      ? await readVideo({ identity, ctx }, deps, taskId, seconds).catch(() => undefined)
      : undefined;
    if (video === undefined) return { data, text: `${text} Task ${taskId}.` };
    return { data: { ...data, video }, text: `${text} ${describeVideo(video)}`, links: linksOf(video) };
  },
};

const getInput = z.strictObject({ taskId: opaqueId, wait_seconds: wait });

const getVideo: Tool = {
  name: 'get_video',
  title: 'Get a video',
  description: 'Returns the state of a task, and links to its video and poster once it has succeeded.',
  annotations: readOnly,
  guards: { path, scope: 'tasks:read' },
  input: getInput,
  output: videoSchema,
  run: async ({ given, ...call }, deps) => {
    const { taskId, wait_seconds: seconds } = parse(getInput, given);
    const video = await readVideo(call, deps, taskId, seconds);
    return { data: video, text: describeVideo(video), links: linksOf(video) };
  },
};

const uploadInput = z.strictObject({
  data: z.string({ error: 'must be a file in base64' }).meta({ description: 'The file in base64, or a data URL.' }),
});

const uploadMedia: Tool = {
  name: 'upload_media',
  title: 'Upload a reference file',
  description:
    `Stores an image, or a short video or audio file, of at most ${maxUploadMegabytes.image} MB, and returns the \`url\` that \`fields\` ` +
    'of `input` take. Media on the web need no upload: pass their URL.',
  annotations: { ...writes, idempotentHint: true },
  guards: { path, scope: 'tasks:write', refusesSuspended: true },
  input: uploadInput,
  output: z.strictObject({ url: z.url(), fields: z.array(z.string()) }),
  run: async ({ identity, given }, deps) => {
    const { data } = parse(uploadInput, given);
    const value = data.startsWith('data:')
      ? data
      : `data:application/octet-stream;base64,${data.replaceAll(/\s/g, '')}`;
    const url = String(await hostInlineMedia(deps, identity.caller.accountId, { path: 'data', value }));
    const upload = existing(uploadFromUrl(deps.publicUrl, url), 'media_missing');
    const fields = mediaFields.filter(({ media }) => media === uploadKinds[upload.fileName]).map(({ name }) => name);
    return { data: { url, fields }, text: `${url} for ${fields.join(', ')}` };
  },
};

export const tools: readonly Tool[] = [
  toolOf(listModels, { name: 'list_models', description: 'Lists models, with prices in credits.' }, ({ models }) =>
    models.map(({ model, title, prices }) => `${model} (${title}): ${JSON.stringify(prices)}`).join('\n'),
  ),
  toolOf(
    quoteTaskPrice,
    { name: 'get_price', description: 'Returns the credits that generate_video would use. Starts nothing.' },
    ({ credits, model, priceName }) => `${credits} credits (${model}, ${priceName})`,
  ),
  generateVideo,
  getVideo,
  toolOf(
    cancelTask,
    {
      name: 'cancel_video',
      description: 'Ends an unfinished task and returns its credits. A task that has ended stays unchanged.',
      annotations: { ...writes, destructiveHint: true, idempotentHint: true },
    },
    ({ taskId, state, failCode, creditsRefunded }) =>
      `Task ${taskId} has ended: ${failCode ?? state}. ${creditsRefunded} credits came back.`,
  ),
  toolOf(
    listTasksOfAccount,
    { name: 'list_videos', description: 'Lists tasks, newest first, with links to videos and posters.' },
    ({ tasks, nextCursor }) => [...tasks.map(describeVideo), `Next cursor: ${nextCursor ?? 'none'}`].join('\n'),
  ),
  uploadMedia,
  toolOf(getCredits, { name: 'get_balance', description: 'Returns the credits of the account.' }, ({ balance }) => {
    return `${balance} credits`;
  }),
];
