import { type Command, InvalidArgumentError } from 'commander';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readProviderFileAt } from '../../../catalogue/file/read-catalogue-file.ts';
import { rulesForUpstreamModel } from '../../../catalogue/models/input-rules.ts';
import { runVideoReader } from '../../../media/video/run-video-reader.ts';
import { catalogueSecretReader } from '../../config/config.ts';
import { withDefaults } from '../../../catalogue/input/task-input.ts';
import { createProviderClient } from '../../../platform/outbound/provider-client.ts';
import type { Job, JobStatus, PolledProvider } from '../../../providers/provider-contract.ts';
import { requestSettingsOf } from '../../../providers/http/headers-and-query.ts';
import { type PlayedExchange, playExample } from '../../../providers/http/play-example-exchanges.ts';
import type { ProviderFile } from '../../../catalogue/providers/provider-file-schema.ts';
import { createHttpProvider } from '../../../providers/http/http-provider.ts';
import type { TraceExpression } from '../../../providers/http/evaluate-expressions-by-priority.ts';
import { addCommand } from '../add-command.ts';
import { type CommandAnswer, CommandError, isJsonRequested, printAnswer } from '../command-output-and-errors.ts';
import { adviseOnTrialVideo, trialDeadlineMs, trialRequest } from './trial-request-and-video-advice.ts';

export function addProviderFileTryCommand(program: Command, provider: Command): void {
  addCommand(provider, 'try', 'builtin:kie', './upstream.yaml --send --key-env UPSTREAM_KEY')
    .description('check a provider file of the kind http with its example, and show the values read from each response')
    .argument('<file>', 'path, or builtin:NAME for a file that comes with Videogen')
    .option('--send', 'create one real job without images, which the upstream bills, and download its video')
    .option('--base-url <url>', 'address of the upstream; by default, that of the example')
    .option('--model <model>', "the upstream's name of the model; by default, that of the example")
    .option('--prompt <text>', 'by default, that of the example')
    .option('--key-env <name>', 'environment variable with the key')
    .option('--secret-env <name=variable>', 'one of several secrets; may be repeated', namedSecret, new Map())
    .action(async (path: string, options: TryOptions) => {
      const file = readProviderFileAt(path);
      const answer =
        options.send === true ? await sendJob(file, options) : exampleAnswer(file, await playExample(file));
      printAnswer(answer, isJsonRequested(program));
      if (answer.json['ok'] !== true) throw new CommandError(`the trial of ${path} failed`);
    });
}

type TryOptions = {
  readonly send?: true;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly prompt?: string;
  readonly keyEnv?: string;
  readonly secretEnv: ReadonlyMap<string, string>;
};

function namedSecret(text: string, earlier: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const [, name, variable] = /^([\w.-]+)=(\w+)$/.exec(text) ?? [];
  if (name === undefined || variable === undefined)
    throw new InvalidArgumentError('It must be a name and a variable, such as accessKey=KLING_ACCESS_KEY.');
  return new Map([...earlier, [name, variable]]);
}

/** The catalogue sells such a model without sound. */
function isSilent({ rules }: ProviderFile, upstreamModel: string): boolean {
  return rulesForUpstreamModel(rules, upstreamModel).findLast(({ audio }) => audio !== undefined)?.audio === 'never';
}

function exampleAnswer(file: ProviderFile, played: readonly PlayedExchange[]): CommandAnswer {
  const exchanges = played.map(({ exchange, requests, values, differences }) => ({
    step: exchange.step,
    means: exchange.means,
    requests,
    values: values.map(({ field, outcome }) => ({ field, ...outcome })),
    differences,
  }));
  const lines = played.flatMap(({ exchange, requests, values, differences }) => [
    `${differences.length === 0 ? 'ok  ' : 'FAIL'} ${exchange.step}: HTTP ${exchange.status} means ${exchange.means}`,
    ...requests.flatMap(({ line, body }) => [
      `       > ${line}`,
      ...(body === undefined ? [] : [`         ${shown(body)}`]),
    ]),
    ...values.map(({ field, outcome }) => valueLine(field, outcome)),
    ...differences.map((difference) => `       ! ${difference}`),
  ]);
  const { model } = file.example;
  const advice = isSilent(file, model) ? [`Videos of ${model} are silent, so it is sold without sound.`] : [];
  const ok = played.every(({ differences }) => differences.length === 0);
  return { json: { ok, exchanges, advice }, lines: [...lines, ...advice] };
}

function valueLine(field: string, outcome: Parameters<TraceExpression>[1]): string {
  return `       ${field}: ${'error' in outcome ? `no value, ${outcome.error}` : shown(outcome.value)}`;
}

const maxShown = 300;

/** The content of media is inserted when the request is sent (request-data-for-expressions.ts). */
const placeholder = /\\u0000(\w+) (\d+) (url|base64)/g;

function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'nothing').replaceAll(placeholder, '<$1 $2, as $3>');
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/** Progress goes to standard error, because a job takes minutes. */
function printProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

const minPauseMs = 2_000;

async function sendJob(file: ProviderFile, options: TryOptions): Promise<CommandAnswer> {
  const { example, status } = file;
  const { baseUrl = example.baseUrl, model = example.model, prompt = example.input.prompt } = options;
  const secrets = secretsOf(options);
  const client = createProviderClient({ baseUrl, ...requestSettingsOf(file, () => secrets) });
  const provider = createHttpProvider({
    name: 'try',
    config: { kind: 'http', baseUrl, upstreamModel: model, options: { parameters: example.parameters } },
    file,
    client,
    submitTimeoutMs: 60_000,
    pollsPerSecond: 1,
    warn: (event, detail) => printProgress(`${event}: ${detail}`),
    trace: (field, outcome) => printProgress(valueLine(field, outcome)),
  });
  try {
    const sound = isSilent(file, model) ? { generateAudio: false } : {};
    const request = trialRequest(withDefaults({ ...example.input, prompt, ...sound }));
    const created = await provider.submit(request, AbortSignal.timeout(trialDeadlineMs));
    if (created.kind !== 'accepted') return { json: { ok: false, created }, lines: [`create: ${shown(created)}`] };
    printProgress(`job ${created.id} was created`);
    const { jobKey, input } = request;
    return await followJob(
      provider,
      { jobKey, input, handle: {}, ...created },
      Math.max(minPauseMs, status.minSeconds * 1000),
    );
  } finally {
    await client.close();
  }
}

function secretsOf({ keyEnv, secretEnv }: TryOptions) {
  const read = catalogueSecretReader(process.cwd());
  const named = [...secretEnv].map(([name, env]) => [name, read({ env })] as const);
  return { key: keyEnv === undefined ? undefined : read({ env: keyEnv }), named: new Map(named) };
}

async function followJob(provider: PolledProvider, job: Job, pauseMs: number): Promise<CommandAnswer> {
  const signal = AbortSignal.timeout(trialDeadlineMs);
  let status: JobStatus | undefined;
  do {
    await delay(pauseMs, undefined, { signal });
    status = (await provider.status([job], signal)).get(job.jobKey);
    printProgress(`status: ${shown(status)}`);
  } while (status?.state !== 'succeeded' && status?.state !== 'failed' && status?.state !== 'missing');
  const json = { ok: status.state === 'succeeded', jobId: job.id, status };
  if (status.state !== 'succeeded') return { json, lines: [`job ${job.id}: ${shown(status)}`] };
  const workFolder = await mkdtemp(join(tmpdir(), 'videogen-try-'));
  const { path } = await provider.result(job, status.result, { workFolder, signal });
  const advice = await adviceOn(job, path, signal);
  const lines = [`job ${job.id} succeeded, its video is ${path}`, ...advice];
  return { json: { ...json, video: path, advice }, lines };
}

/** A file that cannot be read is not judged here; its path is printed. */
async function adviceOn({ input }: Job, path: string, signal: AbortSignal): Promise<readonly string[]> {
  const streams = await runVideoReader('streams', path, signal);
  if (streams === undefined || streams.durationSeconds === null) return [];
  const { audio, durationSeconds, widthPx, heightPx } = streams;
  return adviseOnTrialVideo(input, { durationSeconds, widthPx, heightPx, hasAudio: audio !== undefined });
}
