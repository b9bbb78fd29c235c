import type { Command } from 'commander';
import { resolve } from 'node:path';
import {
  type Client,
  createClient,
  type CreatedTask,
  newIdempotencyKey,
  type Retry,
  type TaskRecord,
  type TaskRequest,
  VideogenError,
} from '../../../../clients/typescript/src/index.ts';
import { messageOf } from '../../../platform/setup-errors-and-error-messages.ts';
import { addCommand, sampleTaskId } from '../add-command.ts';
import { parseId } from '../arguments.ts';
import {
  addGenerationOptions,
  collectOption,
  defaultModelOf,
  type GenerationOptions,
  withBuiltTaskRequest,
} from './generation-options-and-task-request.ts';
import { describeFields, parseFieldSetting } from './parse-and-describe-model-fields.ts';
import { unknownNameMessage } from '../../../platform/text/did-you-mean.ts';
import { interruptionError, type Interruptions, listenForInterruptions } from '../interruption.ts';
import { saveVideo } from './serve-media-and-save-video.ts';
import {
  CommandError,
  commandLineAsTyped,
  isJsonRequested,
  printAnswer,
  usageError,
} from '../command-output-and-errors.ts';
import { addServiceOptions, keyHint, readServiceOptions, type ServiceOptions, startHint } from './service-options.ts';
import { createProgressPrinter, type ProgressPrinter } from '../demo/progress-printer.ts';

type SavingOptions = ServiceOptions & { readonly out?: string };

export function addGenerateCommand(program: Command): void {
  const command = addGenerationOptions(
    addCommand(
      program,
      'generate',
      '"a lighthouse in a storm" --duration 4',
      '"a paper boat" --image boat.jpg --ratio 9:16 --no-audio --out boat.mp4',
      '--help videogen-2.0',
      '"a paper boat" --set duration=8',
    ),
  )
    .description('generate a video through the API of a running service')
    .argument('[prompt]', 'what the video shows')
    .option('--set <name=value>', 'another field or option of the model; may be repeated', collectOption, [])
    .helpOption(false)
    .option('-h, --help [model]', 'display help, or the fields of a model');
  addSavingOptions(command).action((prompt: string | undefined, options: GenerateOptions) => {
    const { help } = options;
    if (help === true) return command.outputHelp();
    return withService(options, isJsonRequested(program), async (service) => {
      if (help !== undefined) return showFields(service, help);
      if (prompt === undefined) throw usageError("missing required argument 'prompt'");
      return generate(service, prompt, options);
    });
  });
}

type GenerateOptions = GenerationOptions &
  SavingOptions & { readonly set: readonly string[]; readonly help?: true | string };

async function showFields({ client, interruptions: { signal }, asJson }: Service, name: string): Promise<void> {
  const model = await offeredModel(client, name, signal);
  printAnswer({ json: model, lines: describeFields(model) }, asJson);
}

async function offeredModel(client: Client, name: string, signal: AbortSignal) {
  const { models } = await client.models({ signal });
  const model = models.find((one) => one.model === name);
  if (model !== undefined) return model;
  const names = models.map((one) => one.model);
  throw usageError(unknownNameMessage('model', name, names));
}

export function addFollowCommand(program: Command): void {
  const command = addCommand(program, 'follow', sampleTaskId, `${sampleTaskId} --out lighthouse.mp4`)
    .description('wait for an existing task and save its video')
    .argument('<task>', 'task id', parseId);
  addSavingOptions(command).action((taskId: string, options: SavingOptions) =>
    withService(options, isJsonRequested(program), (service) => follow(service, taskId)),
  );
}

function addSavingOptions(command: Command): Command {
  return addServiceOptions(command).option('--out <file>', 'where to save the video; by default <task id>.mp4');
}

type Service = {
  readonly client: Client;
  readonly story: ProgressPrinter;
  readonly interruptions: Interruptions;
  readonly out: string | undefined;
  readonly asJson: boolean;
  /** Returns a sentence with the command that shows the task at the same service. */
  readonly continues: (taskId: string, what?: string) => string;
};

async function withService(
  { out, ...options }: SavingOptions,
  asJson: boolean,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const { baseUrl, key } = await readServiceOptions(options);
  const story = createProgressPrinter(asJson);
  let warning = '';
  const onRetry = ({ error }: Retry) => {
    if (error.message !== warning) story.warn(`${error.message}; retrying`);
    warning = error.message;
  };
  const address = options.baseUrl === undefined ? [] : ['--base-url', options.baseUrl];
  const continues = (taskId: string, what = 'The task continues; follow it with') =>
    `${what}: ${commandLineAsTyped('follow', taskId, ...address)}`;
  try {
    const client = openClient(baseUrl, key, onRetry);
    await work({ client, story, interruptions: listenForInterruptions(), out, asJson, continues });
  } catch (error) {
    throw withHint(error);
  }
}

function openClient(baseUrl: string, key: string, onRetry: (retry: Retry) => void): Client {
  try {
    return createClient({ baseUrl, key, onRetry });
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
}

function withHint(error: unknown): unknown {
  if (!(error instanceof VideogenError)) return error;
  if (error.kind === 'unreachable') return new CommandError(`${error.message}\n${startHint()}`);
  return error.code === 401 ? new CommandError(`${error.message}\n${keyHint()}`) : error;
}

async function generate(service: Service, prompt: string, options: GenerateOptions): Promise<void> {
  const model = options.model ?? (await firstModel(service));
  const { client, interruptions } = service;
  const offered = options.set.length === 0 ? undefined : await offeredModel(client, model, interruptions.signal);
  const settings = offered === undefined ? [] : options.set.map((text) => parseFieldSetting(offered, text));
  const run = async (body: TaskRequest) => {
    const { taskId, creditsCharged } = await create(service, body);
    service.story.step(`Task ${taskId}: ${creditsCharged} credits charged. Press Ctrl-C to cancel it for a refund.`);
    await save(service, await waitForEnd(service, taskId, () => cancel(service, taskId, creditsCharged)));
  };
  await withBuiltTaskRequest(prompt, { ...options, model }, run, settings);
}

async function firstModel({ client, interruptions: { signal } }: Service): Promise<string> {
  try {
    const { models } = await client.models({ signal });
    return defaultModelOf(models.map(({ model }) => model));
  } catch (error) {
    throw signal.aborted ? interruptionError('Nothing was requested.') : error;
  }
}

async function follow(service: Service, taskId: string): Promise<void> {
  service.story.step(`Task ${taskId}`);
  await save(service, await waitForEnd(service, taskId, async () => service.continues(taskId)));
}

const lateResponseMs = 5_000;

/** An interrupted create is repeated under its key: the task may be charged already, and can be cancelled once its id is known. */
async function create({ client, story, interruptions }: Service, body: TaskRequest): Promise<CreatedTask> {
  const unknown = `No response; if the task was created, it continues: ${commandLineAsTyped('api', 'GET', '/api/v1/jobs/listTasks')}`;
  const idempotencyKey = newIdempotencyKey();
  const { signal } = interruptions;
  interruptions.exitWith(unknown);
  try {
    return await client.createTask(body, { idempotencyKey, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  story.warn('Waiting for the response, to cancel the task. Press Ctrl-C again to leave it running.');
  const late = AbortSignal.timeout(lateResponseMs);
  return client.createTask(body, { idempotencyKey, signal: late }).catch((error: unknown) => {
    throw late.aborted ? interruptionError(unknown) : error;
  });
}

/** Returns the final record. Ctrl-C ends the command with the sentence that `onInterruption` returns. */
async function waitForEnd(
  { client, story, interruptions, asJson, continues }: Service,
  taskId: string,
  onInterruption: () => Promise<string>,
): Promise<TaskRecord> {
  try {
    return await story.waitFor(client, taskId, interruptions.signal);
  } catch (error) {
    if (!interruptions.signal.aborted) {
      story.warn(continues(taskId));
      throw error;
    }
    const outcome = await onInterruption();
    printAnswer({ json: { taskId, interrupted: true, outcome }, lines: [] }, asJson);
    throw interruptionError(outcome);
  }
}

async function cancel(
  { client, story, interruptions, continues }: Service,
  taskId: string,
  credits: number,
): Promise<string> {
  const stillRuns = continues(taskId, `The task continues, with ${credits} credits charged; follow it with`);
  story.step('Cancelling the task');
  interruptions.exitWith(stillRuns);
  try {
    const end = await client.cancelTask(taskId);
    if (end.state === 'fail') return `Task ${taskId} is cancelled: ${end.creditsRefunded} credits refunded.`;
    return continues(taskId, 'The task had already succeeded; save its video with');
  } catch (error) {
    return `${messageOf(error)}. ${stillRuns}`;
  }
}

async function save(service: Service, record: TaskRecord): Promise<void> {
  const { client, story, out, asJson, interruptions, continues } = service;
  const { taskId, createTime, completeTime } = record;
  const seconds = (((completeTime ?? createTime) - createTime) / 1000).toFixed(1);
  if (record.state === 'fail') {
    story.warn(`Failed after ${seconds} s: ${record.creditsRefunded} credits refunded`);
    throw new CommandError(`${record.failCode}: ${record.failMsg}`);
  }
  const file = resolve(out ?? `${taskId}.mp4`);
  const notSaved = continues(taskId, 'The task succeeded; save its video with');
  interruptions.exitWith(notSaved);
  try {
    await saveVideo(client, taskId, file, interruptions.signal);
  } catch (error) {
    throw interruptions.signal.aborted ? interruptionError(notSaved) : error;
  }
  const refunded = record.creditsRefunded > 0 ? `, ${record.creditsRefunded} of them refunded` : '';
  story.success(`Done in ${seconds} s, ${record.creditsCharged} credits${refunded}`);
  printAnswer({ json: { ...record, file }, lines: [file] }, asJson);
}
