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
} from '../../clients/typescript/src/index.ts';
import { readConfig } from '../config.ts';
import { readAddress } from '../embedded/data-folder.ts';
import { id } from './arguments.ts';
import { addGenerationOptions, defaultModelOf, type GenerationOptions, withRequestBody } from './generation-options.ts';
import { interrupted, type Interruptions, listenForInterruptions } from './interruption.ts';
import { saveVideo } from './local-files.ts';
import { CommandError, invocation, isJson, printAnswer } from './output.ts';
import { createStory, type Story } from './story.ts';

type ServiceOptions = { readonly baseUrl?: string; readonly key?: string; readonly out?: string };

export function addGenerateCommand(program: Command): void {
  const command = addGenerationOptions(program.command('generate'))
    .description('make a video through the API of a running service, like any other client')
    .argument('<prompt>', 'what the video shows');
  addServiceOptions(command).action((prompt: string, options: GenerationOptions & ServiceOptions) =>
    withService(options, isJson(program), (service) => generate(service, prompt, options)),
  );
}

export function addFollowCommand(program: Command): void {
  const command = program
    .command('follow')
    .description('wait for a task that was created before, and save its video')
    .argument('<task>', 'task id', id);
  addServiceOptions(command).action((taskId: string, options: ServiceOptions) =>
    withService(options, isJson(program), (service) => follow(service, taskId)),
  );
}

function addServiceOptions(command: Command): Command {
  return command
    .option(
      '--base-url <url>',
      'address of the service; by default PUBLIC_URL, else that of the service on VIDEOGEN_DATA, else http://HOST:PORT',
    )
    .option('--key <key>', 'API key; by default VIDEOGEN_API_KEY')
    .option('--out <file>', 'where to put the video; by default <task id>.mp4');
}

type Service = {
  readonly client: Client;
  readonly story: Story;
  readonly interruptions: Interruptions;
  readonly out: string | undefined;
  readonly asJson: boolean;
  /** The command that goes on with a task, for the same service. */
  readonly follower: (taskId: string) => string;
};

async function withService(
  { key: givenKey, baseUrl: givenUrl, out }: ServiceOptions,
  asJson: boolean,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const config = readConfig();
  const key = givenKey ?? config.apiKey;
  if (key === undefined) throw new CommandError(`Give a key with --key or VIDEOGEN_API_KEY. ${keyHint()}`);
  const local = config.publicUrl ?? (await readAddress(config.dataFolder)) ?? `http://${config.host}:${config.port}`;
  const baseUrl = givenUrl ?? local;
  const story = createStory(asJson);
  const interruptions = listenForInterruptions();
  let warnedOf = '';
  const onRetry = ({ error }: Retry) => {
    if (error.message !== warnedOf) story.warn(`${error.message}; trying again`);
    warnedOf = error.message;
  };
  try {
    const client = clientOf(baseUrl, key, onRetry);
    const address = givenUrl === undefined ? [] : ['--base-url', givenUrl];
    const follower = (taskId: string) => invocation('follow', taskId, ...address);
    await work({ client, story, interruptions, out, asJson, follower });
  } catch (error) {
    throw withHint(error);
  }
}

function withHint(error: unknown): unknown {
  if (!(error instanceof VideogenError)) return error;
  if (error.kind === 'unreachable')
    return new CommandError(`${error.message}\nIs the service running? ${invocation('start')} runs one here.`);
  return error.code === 401 ? new CommandError(`${error.message}\n${keyHint()}`) : error;
}

/** A slip in the address or the key is the person's at the keyboard, not a fault of ours. */
function clientOf(baseUrl: string, key: string, onRetry: (retry: Retry) => void): Client {
  try {
    return createClient({ baseUrl, key, onRetry });
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}

function keyHint(): string {
  return `On the machine of the service, "${invocation('key', 'create', '--help')}" says how to make one.`;
}

async function generate(service: Service, prompt: string, options: GenerationOptions): Promise<void> {
  const model = options.model ?? (await soldModel(service));
  await withRequestBody(prompt, { ...options, model }, async (body) => {
    const { taskId, creditsCharged } = await created(service, body);
    service.story.step(`Task ${taskId}: ${creditsCharged} credits charged. Ctrl-C cancels it and gives them back.`);
    await saved(service, await waited(service, taskId, () => cancelled(service, taskId, creditsCharged)));
  });
}

async function soldModel({ client, interruptions: { signal } }: Service): Promise<string> {
  try {
    const { models } = await client.models({ signal });
    return defaultModelOf(models.map(({ model }) => model));
  } catch (error) {
    throw signal.aborted ? interrupted('Nothing was requested.') : error;
  }
}

async function follow(service: Service, taskId: string): Promise<void> {
  service.story.step(`Task ${taskId}`);
  const goesOn = `The task goes on; follow it with: ${service.follower(taskId)}`;
  await saved(service, await waited(service, taskId, () => Promise.resolve(goesOn)));
}

/** How long the answer to a create that was broken off is asked for. */
const unansweredMs = 5_000;

/** Broken off, it is repeated under its key, since the task may be charged already: one whose id is known can be cancelled. */
async function created({ client, story, interruptions }: Service, body: TaskRequest): Promise<CreatedTask> {
  const unknown = `No answer came; if a task was created after all, it goes on: ${invocation('task', 'list')}`;
  const idempotencyKey = newIdempotencyKey();
  const { signal } = interruptions;
  interruptions.leaveWith(unknown);
  try {
    return await client.createTask(body, { idempotencyKey, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  story.warn('Waiting for the answer, to cancel the task; Ctrl-C again leaves it alone.');
  const late = AbortSignal.timeout(unansweredMs);
  return client.createTask(body, { idempotencyKey, signal: late }).catch((error: unknown) => {
    throw late.aborted ? interrupted(unknown) : error;
  });
}

/** The record of the task once it has ended. Broken off, it ends with the sentence that `onInterruption` answers. */
async function waited(service: Service, taskId: string, onInterruption: () => Promise<string>): Promise<TaskRecord> {
  const { client, story, interruptions, asJson, follower } = service;
  try {
    return await story.waitFor(client, taskId, interruptions.signal);
  } catch (error) {
    if (!interruptions.signal.aborted) {
      story.warn(`The task goes on; follow it with: ${follower(taskId)}`);
      throw error;
    }
    const outcome = await onInterruption();
    printAnswer({ json: { taskId, interrupted: true, outcome }, lines: [] }, asJson);
    throw interrupted(outcome);
  }
}

/** Cancels the task; what became of it and of its credits. */
async function cancelled(service: Service, taskId: string, credits: number): Promise<string> {
  const { client, story, interruptions, follower } = service;
  const goesOn = `The task goes on, with ${credits} credits charged; follow it with: ${follower(taskId)}`;
  story.step('Cancelling the task');
  interruptions.leaveWith(goesOn);
  try {
    const end = await client.cancelTask(taskId);
    if (end.creditsRefunded > 0) return `Task ${taskId} is cancelled: ${end.creditsRefunded} credits refunded.`;
    return `The task had succeeded before; save its video with: ${follower(taskId)}`;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}. ${goesOn}`;
  }
}

async function saved(service: Service, record: TaskRecord): Promise<void> {
  const { client, story, out, asJson, interruptions, follower } = service;
  if (record.state === 'fail') {
    story.warn(`Failed after ${secondsOf(record)} s: ${record.creditsRefunded} credits refunded`);
    throw new CommandError(`${record.failCode}: ${record.failMsg}`);
  }
  const file = resolve(out ?? `${record.taskId}.mp4`);
  const notSaved = `The task succeeded; save its video with: ${follower(record.taskId)}`;
  interruptions.leaveWith(notSaved);
  try {
    await saveVideo(client, record.taskId, file, interruptions.signal);
  } catch (error) {
    throw interruptions.signal.aborted ? interrupted(notSaved) : error;
  }
  story.success(`Done in ${secondsOf(record)} s, ${record.creditsCharged} credits`);
  printAnswer({ json: { ...record, file }, lines: [file] }, asJson);
}

function secondsOf({ createTime, completeTime }: TaskRecord): string {
  return (((completeTime ?? createTime) - createTime) / 1000).toFixed(1);
}
