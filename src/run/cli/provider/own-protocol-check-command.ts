import { type Command, InvalidArgumentError } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v4 as uuid } from 'uuid';
import { readConfig, catalogueSecretReader } from '../../config/config.ts';
import type { SecretRef } from '../../../catalogue/file/provider-schema.ts';
import { TaskError } from '../../../catalogue/tasks/task-error.ts';
import { type TaskInput, withDefaults } from '../../../catalogue/input/task-input.ts';
import { findOrDownloadFfmpeg } from '../../embedded/find-or-download-ffmpeg.ts';
import { createFfmpeg } from '../../../media/ffmpeg/ffmpeg.ts';
import { createVideoInspector } from '../../../media/video/inspect-and-make-poster.ts';
import { createVideoNormalizer } from '../../../media/ffmpeg/convert-result-video.ts';
import { runWithDeadline } from '../../../platform/outbound/deadlines-and-slots.ts';
import { OutboundError } from '../../../platform/outbound/outbound-error.ts';
import { createProviderClient } from '../../../platform/outbound/provider-client.ts';
import type { JsonObject } from '../../../platform/text/json.ts';
import { checkConformance } from '../../../providers/own/check-conformance.ts';
import type { Finding } from '../../../providers/own/conformance-rules-and-verdicts.ts';
import type { ConformanceRunOptions } from '../../../providers/own/conformance-requests-and-findings.ts';
import { ownJobBody } from '../../../providers/own/own-provider.ts';
import { addCommand } from '../add-command.ts';
import { parseId, textParser, wholeNumberParser } from '../arguments.ts';
import { interruptionError, listenForInterruptions } from '../interruption.ts';
import { CommandError, isJsonRequested, printAnswer, usageError } from '../command-output-and-errors.ts';
import { adviseOnTrialVideo, trialRequest } from './trial-request-and-video-advice.ts';

export function addOwnProtocolCheckCommand(program: Command, provider: Command): void {
  addCommand(
    provider,
    'check',
    'http://127.0.0.1:9000 --key-env SCRIPT_KEY',
    'http://gpu1:9000 --key-env SCRIPT_KEY --model wan-2.2 --json',
  )
    .description('check a server against the protocol of docs/providers/own.md; makes one video and cancels another')
    .argument('<url>', 'address of the server, as baseUrl in a catalogue', serverUrl)
    .option('--key-env <name>', 'environment variable with the key')
    .option('--key-file <path>', 'file with the key')
    .option('--model <model>', 'name of the model on the server', textParser(200), 'check')
    .option('--parameters <json>', 'parameters of the catalogue entry', jsonObject, {})
    .option('--prompt <text>', 'what the video shows', textParser(5000), 'a lighthouse at dusk, waves rolling in')
    .option('--timeout <seconds>', 'time limit of the whole check', wholeNumberParser(1, 86_400), 1800)
    .option('--job <id>', 'check only this ended job of an earlier check, after a restart of the server', parseId)
    .action(async (url: string, options: CheckOptions) => {
      const asJson = isJsonRequested(program);
      const advice = new Set<string>();
      const findings = await checked(
        url,
        { ...options, advise: (lines) => lines.forEach((line) => advice.add(line)) },
        asJson,
      );
      const count = (outcome: Finding['outcome']) => findings.filter((one) => one.outcome === outcome).length;
      const [passed, failed, skipped] = [count('pass'), count('fail'), count('skipped')];
      const summary = `${passed} rules passed, ${failed} failed, ${skipped} skipped`;
      const json = { ok: failed === 0, rules: findings, advice: [...advice] };
      printAnswer({ json, lines: [...advice, summary] }, asJson);
      if (failed > 0) throw new CommandError(`${url} does not conform to the protocol`);
    });
}

type CheckOptions = {
  readonly keyEnv?: string;
  readonly keyFile?: string;
  readonly model: string;
  readonly parameters: JsonObject;
  readonly prompt: string;
  readonly timeout: number;
  readonly job?: string;
};
type Check = CheckOptions & { readonly advise: (lines: readonly string[]) => void };

function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !/^https?:$/.test(url.protocol) || !isPlain)
    throw new InvalidArgumentError('It must be an http or https URL without user, password, query and fragment.');
  return text.replace(/\/+$/, '');
}

function jsonObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    // JSON.parse returns plain JSON.
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // The error below states the expected form.
  }
  throw new InvalidArgumentError('It must be a JSON object, such as \'{"steps": 30}\'.');
}

/** Ctrl-C ends the check as its timeout does: its jobs are cancelled. */
async function checked(baseUrl: string, options: Check, asJson: boolean): Promise<readonly Finding[]> {
  const interruption = listenForInterruptions();
  const findings = await runWithDeadline(options.timeout * 1000, [interruption.signal], (signal) =>
    checkUntil(signal, baseUrl, options, asJson),
  );
  if (interruption.signal.aborted) throw interruptionError('Interrupted. The jobs of the check were cancelled.');
  return findings;
}

async function checkUntil(
  signal: AbortSignal,
  baseUrl: string,
  options: Check,
  asJson: boolean,
): Promise<readonly Finding[]> {
  const read = catalogueSecretReader(process.cwd());
  const keyRef = keyRefOf(options);
  const key = keyRef && read(keyRef)();
  const open = (credentials?: string) =>
    createProviderClient({
      baseUrl,
      ...(credentials !== undefined && { credentials: () => ({ authorization: `Bearer ${credentials}` }) }),
    });
  const clients = { client: open(key), keyless: open(), invalid: open(`invalid-${uuid()}`) };
  const workFolder = await mkdtemp(join(tmpdir(), 'videogen-check-'));
  const { ffmpegPath: explicitPath, cacheFolder } = readConfig();
  const progress = (line: string) => process.stderr.write(`${line}\n`);
  const { client, ...strangers } = clients;
  try {
    const status = await statusOf(client, baseUrl, signal);
    if (status === 401 && key === undefined) {
      throw new CommandError(`${baseUrl} requires a key; pass it with --key-env NAME or --key-file PATH`);
    }
    return await checkConformance({
      client,
      strangers: key === undefined ? undefined : strangers,
      bodies: await bodiesOf(options),
      inspect: createInspection(workFolder, {
        ffmpegPath: await findOrDownloadFfmpeg({ explicitPath, cacheFolder, log: progress }),
        advise: options.advise,
      }),
      earlierJob: options.job,
      workFolder,
      pollMs: 1_000,
      signal,
      onFinding: (finding) => {
        if (!asJson) process.stdout.write(`${linesOf(finding).join('\n')}\n`);
      },
      say: progress,
    });
  } finally {
    await Promise.allSettled(Object.values(clients).map((one) => one.close()));
    await rm(workFolder, { recursive: true });
  }
}

function keyRefOf({ keyEnv, keyFile }: CheckOptions): SecretRef | undefined {
  if (keyEnv !== undefined && keyFile !== undefined) throw usageError('use either --key-env or --key-file, not both');
  if (keyEnv !== undefined) return { env: keyEnv };
  return keyFile === undefined ? undefined : { file: keyFile };
}

/** Returns the status of a first request, undefined for an invalid response. An unreachable server ends the check. */
async function statusOf(client: ConformanceRunOptions['client'], baseUrl: string, signal: AbortSignal) {
  try {
    const { status } = await client.call('GET', `/jobs/${uuid()}`, {
      timeoutMs: 10_000,
      maxBytes: 1024 * 1024,
      signal,
    });
    return status;
  } catch (error) {
    if (!(error instanceof OutboundError) || error.wasSent) return undefined;
    throw new CommandError(`${baseUrl} cannot be reached: ${error.detail}`);
  }
}

async function bodiesOf({ model, prompt, parameters }: CheckOptions): Promise<ConformanceRunOptions['bodies']> {
  const bodyOf = async (text: string) => {
    const request = trialRequest(trialOrder(text));
    const { bytes } = await ownJobBody(request, { upstreamModel: model, options: { parameters } });
    return String(bytes);
  };
  return { first: await bodyOf(prompt), other: await bodyOf(`${prompt.slice(0, 4900)}, in black and white`) };
}

function trialOrder(prompt: string): TaskInput {
  return withDefaults({ prompt, duration: 5, ratio: '16:9' });
}

type Inspection = Pick<Check, 'advise'> & { readonly ffmpegPath: string };

/** Converts and measures a video as the worker does, and compares it with its order. */
function createInspection(workFolder: string, { ffmpegPath, advise }: Inspection): ConformanceRunOptions['inspect'] {
  const ffmpeg = createFfmpeg({ path: ffmpegPath });
  const [normalize, inspect] = [createVideoNormalizer(ffmpeg), createVideoInspector(ffmpeg)];
  return async (path, signal) => {
    try {
      const form = { audio: true, fit: 'keep', resolution: '720p', ratio: '16:9', lastFrame: false } as const;
      const videoPath = await normalize({ videoPath: path, targetPath: join(workFolder, 'fit.mp4'), form, signal });
      const posterPath = join(workFolder, 'poster.jpg');
      const { measured } = await inspect({ videoPath, deliveredPoster: undefined, posterPath, signal });
      const { widthPx, heightPx, durationSeconds, framesPerSecond, hasAudio } = measured;
      advise(adviseOnTrialVideo(trialOrder(''), measured));
      const sound = hasAudio ? 'with sound' : 'without sound';
      const how = videoPath === path ? 'delivered as it is' : 'converted by Videogen';
      return `${widthPx}×${heightPx}, ${durationSeconds.toFixed(1)} s, ${framesPerSecond.toFixed(0)} fps, ${sound}, ${how}`;
    } catch (error) {
      throw error instanceof TaskError && error.cause instanceof Error ? error.cause : error;
    }
  };
}

const marks = { pass: 'pass   ', fail: 'FAIL   ', skipped: 'skipped' } as const;

function linesOf({ rule, outcome, expected, came }: Finding): readonly string[] {
  if (outcome === 'skipped') return [`${marks[outcome]}  ${rule}: ${came ?? expected}`];
  const line = `${marks[outcome]}  ${rule}: ${expected}`;
  if (came === undefined) return [line];
  return [line, `         ${outcome === 'fail' ? 'received: ' : ''}${came}`];
}
