import type { ResourceLink, Tool as Description } from '@modelcontextprotocol/server';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { z } from 'zod';
import { readSoldModels, type SoldModelDeps } from '../credits/price-view.ts';
import { getBalanceAndLedger } from '../credits/credit-routes.ts';
import { readOwnTaskAndMarkRead, type ReadTaskDeps } from '../dialects/read-send-and-delete-video.ts';
import {
  type EndpointWithData,
  type GuardedRequest,
  type GuardSpec,
  type DepsOfAll,
  parseOrRefuse,
} from '../core/define-endpoint.ts';
import type { ClientIdentity, DeepReadonly, WithClock } from '../core/endpoint-spec.ts';
import { requireExisting } from '../core/http-error.ts';
import { uncheckedIdField, wholeNumberField } from '../core/request-fields.ts';
import { idempotencyKeySchema } from '../core/idempotency-key.ts';
import { storeInlineFile, type InlineMediaDeps, isDataUrl } from '../dialects/inline-media.ts';
import { jsonFromText, fieldValueFromText } from '../dialects/translate-fields.ts';
import { isObject } from '../../platform/text/json.ts';
import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import {
  maxUploadMegabytes,
  uploadFromUrl,
  kindByStoredName,
} from '../../media/references/upload-limits-and-addresses.ts';
import { listModels } from '../models/model-routes.ts';
import { modelSummaryText, summarizeModel, modelSummarySchema } from './model-summary.ts';
import { takeOrder, type TakeOrderDeps } from '../tasks/create-task-routes.ts';
import { taskAfterWait } from '../tasks/long-poll.ts';
import { quoteTaskPrice } from '../tasks/task-price-routes.ts';
import { mediaFields } from '../../catalogue/input/task-input.ts';
import { findTaskCreator } from '../../tasks/list/task-creator.ts';
import { cancelTask } from '../tasks/cancel-task-routes.ts';
import { type CancelTaskDeps, cancelTaskIfUnstarted } from '../../tasks/end/cancel-task.ts';
import { listOwnTasks } from '../tasks/task-list-and-count-routes.ts';
import type { TaskWaiters } from '../../tasks/task-waiters.ts';
import { listedTaskSchema, presentListedTask, type TaskRecordDeps } from '../tasks/task-view.ts';

export type ToolArguments = Readonly<Record<string, unknown>>;
type Caller = Pick<GuardedRequest, 'ctx'> & { readonly identity: ClientIdentity };
type ToolCall = Caller & { readonly given: ToolArguments };

/** `text` has the main facts of `data`, because some clients show a model only text. */
type ToolAnswer = { readonly data: object; readonly text: string; readonly links?: readonly ResourceLink[] };

/** `Deps`: what it needs, as of an endpoint. */
export type Tool<Deps = never> = Pick<Description, 'name' | 'title' | 'description' | 'annotations'> & {
  readonly guards: GuardSpec;
  /** Takes the fields of a create request, besides those of `input`. */
  readonly takesTaskRequest?: true | undefined;
  readonly input: z.ZodType | undefined;
  readonly output: z.ZodType;
  readonly run: (call: ToolCall, deps: Deps) => Promise<ToolAnswer>;
};

const readOnly = { readOnlyHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** An endpoint as a tool: its query or body are the arguments, its data is the result. */
function toolOf<Data extends object, Deps>(
  endpoint: EndpointWithData<Data, Deps>,
  name: string,
  description: string,
  textOf: (data: DeepReadonly<Data>) => string,
): Tool<Deps & WithCatalogueGetter> {
  const { summary: title, query, body, data: output, takesTaskRequest } = endpoint;
  const input = takesTaskRequest === true ? undefined : (query ?? body);
  const run = async ({ given, ...caller }: ToolCall, deps: Deps & WithCatalogueGetter) => {
    // The schemas of queries read text, so numbers among the arguments are converted.
    const texts = Object.entries(given).map(([key, value]) => [key, typeof value === 'number' ? `${value}` : value]);
    const sent = takesTaskRequest === true ? withScalars(given, deps.catalogue().models) : given;
    const data = await endpoint.run({ ...caller, query: Object.fromEntries(texts), body: sent }, deps);
    return { data, text: textOf(data) };
  };
  return { name, title, description, annotations: readOnly, guards: endpoint, takesTaskRequest, input, output, run };
}

type Video = DeepReadonly<z.output<typeof listedTaskSchema>>;

function linksOf({ taskId: name, resultJson: { resultUrls }, posterUrl }: Video): readonly ResourceLink[] {
  const videos = resultUrls.map((uri) => ({ uri, name: `${name}.mp4`, mimeType: 'video/mp4' }));
  const posters = posterUrl === null ? [] : [{ uri: posterUrl, name: `${name}.jpg`, mimeType: 'image/jpeg' }];
  return [...videos, ...posters].map((file) => ({ type: 'resource_link', ...file }));
}

function describeVideo(video: Video): string {
  const { taskId, state, progress, failCode, failMsg, creditsRefunded } = video;
  const refund = creditsRefunded > 0 ? ` It is not all that was ordered: ${creditsRefunded} credits came back.` : '';
  if (state === 'success')
    return [`Task ${taskId} succeeded.${refund}`, ...linksOf(video).map(({ uri }) => uri)].join('\n');
  if (state === 'fail') return `Task ${taskId} failed, ${failCode}: ${failMsg} ${creditsRefunded} credits came back.`;
  return `Task ${taskId} is ${state}, ${progress} %. Follow it with get_video.`;
}

/** Clients time out a call after a minute, and agents repeat it while they wait. */
const mergesAfterSuccessMs = 120_000;
const wait = wholeNumberField(0, 50).default(0).meta({ description: 'Seconds to wait for the end of the task.' });

type ReadDeps = ReadTaskDeps & TaskRecordDeps & { readonly taskWaiters: TaskWaiters };

async function readVideo(taskId: string, waitSeconds: number, { identity, ctx }: Caller, deps: ReadDeps) {
  const task = await readOwnTaskAndMarkRead(deps, identity.caller, taskId);
  const now = await taskAfterWait(ctx, deps, { task, waitSeconds });
  const creator = await findTaskCreator(deps.db, taskId);
  return presentListedTask(deps, { ...now, createdBy: creator?.createdBy });
}

/** Since the protocol 2026-07-28 a client cancels a call by closing its response; before, a lost connection meant nothing. */
function isCancelled(ctx: Caller['ctx']): boolean {
  const { res } = ctx;
  return res.closed && !res.writableFinished && ctx.get('MCP-Protocol-Version') >= '2026-07-28';
}

/** Models write numbers and booleans as text where several models of the catalogue differ, and some clients write objects and lists so. */
function withScalars(body: ToolArguments, models: ModelsByName): ToolArguments {
  const { model } = body;
  const input = jsonFromText(body['input']);
  if (!isObject(input)) return body;
  const of = typeof model === 'string' ? models.get(model)?.input : undefined;
  const isNested = (name: string) => name.endsWith('Urls') || name === 'options';
  const valueOf = (name: string, value: unknown) =>
    fieldValueFromText(name, isNested(name) ? jsonFromText(value) : value, of);
  const fields = Object.entries(input).map(([name, value]) => [name, valueOf(name, value)]);
  return { ...body, input: Object.fromEntries(fields) as unknown };
}

const generateInput = z.looseObject({ wait_seconds: wait, idempotency_key: idempotencyKeySchema.optional() });
const generateVideo: Tool<TakeOrderDeps & ReadDeps & CancelTaskDeps> = {
  name: 'generate_video',
  title: 'Generate a video',
  description:
    'Starts a video. It costs credits; get_price returns how many. They are refunded if the task fails or is cancelled. It takes a ' +
    'minute or more: wait with `wait_seconds`, then call get_video until `state` is `success` or `fail`. An identical call returns the ' +
    'same task, and uses no credits, until two minutes after its success; after a failure it is a new task. For another video from ' +
    'the same input, pass another `idempotency_key`.',
  annotations: { ...writes, openWorldHint: true, idempotentHint: false },
  guards: { scope: 'tasks:write', createsTask: true, refusesSuspended: true },
  takesTaskRequest: true,
  input: generateInput,
  output: z.strictObject({
    taskId: z.string(),
    creditsCharged: z.int().positive(),
    isRepeat: z.boolean().meta({ description: 'An earlier, identical call started the task.' }),
    video: listedTaskSchema.optional().meta({ description: 'Absent if the key lacks the scope `tasks:read`.' }),
  }),
  run: async ({ given, ...caller }, deps) => {
    const { wait_seconds: seconds, idempotency_key: key, ...input } = parseOrRefuse(generateInput, given);
    const { ctx, identity } = caller;
    const order = { caller: identity.caller, input, dialect: 'native', idempotency: { key }, mergesAfterSuccessMs };
    const accepted = await takeOrder(ctx, deps, {
      ...order,
      translate: (body, models) => ({ ours: withScalars(body, models) }),
    });
    const { taskId, creditsCharged } = accepted;
    const data = { taskId, creditsCharged, isRepeat: accepted.kind === 'replayed' };
    const text = data.isRepeat
      ? 'No credits were used: an identical call started this.'
      : `Uses ${creditsCharged} credits.`;
    // The task is accepted, so the call succeeds even if the wait fails.
    const canRead = identity.caller.scopes.includes('tasks:read');
    const video = canRead ? await readVideo(taskId, seconds, caller, deps).catch(() => undefined) : undefined;
    if (!data.isRepeat && isCancelled(ctx)) await cancelTaskIfUnstarted(deps, taskId);
    if (video === undefined) return { data, text: `${text} Task ${taskId}.` };
    return { data: { ...data, video }, text: `${text} ${describeVideo(video)}`, links: linksOf(video) };
  },
};

const getInput = z.strictObject({ taskId: uncheckedIdField, wait_seconds: wait });
const getVideo: Tool<ReadDeps> = {
  name: 'get_video',
  title: 'Get a video',
  description: 'Returns the state of a task, and links to its video and poster once it has succeeded.',
  annotations: readOnly,
  guards: { scope: 'tasks:read' },
  input: getInput,
  output: listedTaskSchema,
  run: async ({ given, ...caller }, deps) => {
    const { taskId, wait_seconds: seconds } = parseOrRefuse(getInput, given);
    const video = await readVideo(taskId, seconds, caller, deps);
    return { data: video, text: describeVideo(video), links: linksOf(video) };
  },
};

const notFile =
  'must be the file itself, in base64 or as a data URL in base64; a path cannot be read, and media on the web need no upload';
const uploadInput = z.strictObject({ data: z.string({ error: notFile }) });
const uploadMedia: Tool<InlineMediaDeps> = {
  name: 'upload_media',
  title: 'Upload a reference file',
  description:
    `Stores an image, video or audio file of at most ${maxUploadMegabytes.image} MB, given as base64 or a data URL, and returns the ` +
    '`url` that the `fields` of `input` take. Media on the web need no upload: pass their URL. From a shell, send a file without ' +
    'writing it out: `curl -F file=@FILE` to /api/v1/uploads of this server, with the API key as Bearer token.',
  annotations: { ...writes, idempotentHint: true },
  guards: { scope: 'tasks:write', refusesSuspended: true },
  input: uploadInput,
  output: z.strictObject({ url: z.url(), fields: z.array(z.string()) }),
  run: async ({ given, identity }, deps) => {
    const { data } = parseOrRefuse(uploadInput, given);
    const value = isDataUrl(data) ? data : `data:application/octet-stream;base64,${data}`;
    const url = String(await storeInlineFile(deps, identity.caller.accountId, { path: 'data', value, notFile }));
    const upload = requireExisting(uploadFromUrl(deps.publicUrl, url), 'media_missing');
    const fields = mediaFields
      .filter(({ media }) => media === kindByStoredName[upload.fileName])
      .map(({ name }) => name);
    return { data: { url, fields }, text: `${url} for ${fields.join(', ')}` };
  },
};

const listModelsTool: Tool<SoldModelDeps & WithClock> = {
  ...toolOf(listModels, 'list_models', 'Lists models: what each is, costs and takes.', () => ''),
  output: z.strictObject({ models: z.array(modelSummarySchema) }),
  run: async ({ identity }, deps) => {
    const sold = await readSoldModels(deps, identity.caller.accountId);
    const described = sold.map(({ model, prices }) => summarizeModel(model, prices, deps.now()));
    return { data: { models: described }, text: described.map(modelSummaryText).join('\n') };
  },
};

const declared = [
  listModelsTool,
  toolOf(
    quoteTaskPrice,
    'get_price',
    'Returns the credits that generate_video would use. Starts nothing.',
    ({ credits, priceName }) => `${credits} credits (${priceName})`,
  ),
  generateVideo,
  getVideo,
  {
    ...toolOf(
      cancelTask,
      'cancel_video',
      'Ends an unfinished task and returns its credits.',
      (end) => `Task ${end.taskId} has ended: ${end.failCode ?? end.state}. ${end.creditsRefunded} credits came back.`,
    ),
    annotations: { ...writes, destructiveHint: true, idempotentHint: true },
  },
  toolOf(
    listOwnTasks,
    'list_videos',
    'Lists tasks, newest first, with links to videos and posters.',
    ({ tasks, nextCursor }) => [...tasks.map(describeVideo), `Next cursor: ${nextCursor ?? 'none'}`].join('\n'),
  ),
  uploadMedia,
  toolOf(
    getBalanceAndLedger,
    'get_balance',
    'Returns the credits of the account.',
    ({ balance }) => `${balance} credits`,
  ),
];

export type ToolNeeds = DepsOfAll<(typeof declared)[number]>;

export const mcpTools: readonly Tool<ToolNeeds>[] = declared;
