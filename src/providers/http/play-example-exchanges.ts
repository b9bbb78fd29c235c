import type { JsonValue } from '../../platform/text/json.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { withDefaults } from '../../catalogue/input/task-input.ts';
import type { Job, JobRequest, PolledProvider, SubmitOutcome, UpstreamClient } from '../provider-contract.ts';
import type { ExampleExchange } from '../../catalogue/providers/provider-file-example-schema.ts';
import type { ProviderFile } from '../../catalogue/providers/provider-file-schema.ts';
import { createHttpProvider } from './http-provider.ts';
import type { TraceExpression } from './evaluate-expressions-by-priority.ts';

// Plays the example of a file: the provider sends its requests, and receives the documented answers.

export type PlayedExchange = {
  readonly exchange: ExampleExchange;
  readonly requests: readonly { readonly line: string; readonly body?: JsonValue }[];
  /** Every expression that was evaluated, in order. */
  readonly values: readonly { readonly field: string; readonly outcome: Parameters<TraceExpression>[1] }[];
  /** The differences from the example; none when the file is correct. */
  readonly differences: readonly string[];
};

export async function playExample(file: ProviderFile): Promise<readonly PlayedExchange[]> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-example-'));
  try {
    const played: PlayedExchange[] = [];
    for (const exchange of file.example.exchanges)
      played.push(await play(file, exchange, await exampleRequest(file, exchange, folder)));
    return played;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The media contain their names as text, because nothing decodes them here. */
async function exampleRequest(
  { example }: ProviderFile,
  { given = {} }: ExampleExchange,
  folder: string,
): Promise<JobRequest> {
  const { jobKey, model } = example;
  const { imageCount = example.imageCount, firstFrame, lastFrame, videoCount, audioCount, ...changes } = given;
  const { model: _model, ...input } = changes;
  const made = async (count: number | undefined, name: string, type: string) => {
    const names = Array.from({ length: count ?? 0 }, (_, index) => `${name}-${index + 1}.${type}`);
    for (const one of names) await writeFile(join(folder, one), one.slice(0, one.indexOf('.')).replaceAll('-', ' '));
    return names.map((one) => ({
      url: `https://videogen.example/${one}`,
      file: { path: join(folder, one), widthPx: 1280, heightPx: 720, seconds: 5 },
    }));
  };
  const images = await made(imageCount, 'image', 'jpg');
  const [first] = await made(firstFrame === true ? 1 : 0, 'first', 'jpg');
  const [last] = await made(lastFrame === true ? 1 : 0, 'last', 'jpg');
  const videos = await made(videoCount, 'video', 'mp4');
  const audios = await made(audioCount, 'audio', 'mp3');
  const byRole = <Made>(one: (media: (typeof images)[number]) => Made) => ({
    images: images.map(one),
    firstFrame: first && one(first),
    lastFrame: last && one(last),
    videos: videos.map(one),
    audios: audios.map(one),
  });
  const links = byRole(({ url }) => url);
  return {
    taskId: jobKey,
    ordinal: 1,
    accountHash: 'ab'.repeat(32),
    jobKey,
    model,
    input: {
      ...withDefaults({ ...example.input, ...input, imageUrls: links.images }),
      ...(links.firstFrame !== undefined && { firstFrameUrl: links.firstFrame }),
      ...(links.lastFrame !== undefined && { lastFrameUrl: links.lastFrame }),
      ...(videos.length > 0 && { videoUrls: links.videos }),
      ...(audios.length > 0 && { audioUrls: links.audios }),
    },
    media: async () => byRole(({ file }) => file),
    mediaLinks: links,
    deadlineMs: 1_800_000,
  };
}

async function play(file: ProviderFile, exchange: ExampleExchange, request: JobRequest): Promise<PlayedExchange> {
  const { example } = file;
  const requests: PlayedExchange['requests'][number][] = [];
  const values: PlayedExchange['values'][number][] = [];
  const answers = [...exchange.uploads, exchange, ...(exchange.second === undefined ? [] : [exchange.second])];
  const client: UpstreamClient = {
    call: async (method, path, { body }) => {
      const isJson = body?.contentType === 'application/json';
      const sent = isJson ? { body: JSON.parse(String(body.bytes)) as JsonValue } : {}; // it was written as JSON
      const { answer, status = 0 } = answers[requests.length] ?? {};
      requests.push({ line: `${method} ${path}`, ...sent });
      return { status, headers: {}, body: Buffer.from(answer === undefined ? '' : JSON.stringify(answer)) };
    },
    download: async () => undefined,
  };
  const { baseUrl, parameters } = example;
  const { model = example.model } = exchange.given ?? {};
  const provider = createHttpProvider({
    name: 'example',
    config: { kind: 'http', baseUrl, upstreamModel: model, options: { parameters } },
    file,
    client,
    submitTimeoutMs: 60_000,
    pollsPerSecond: 1,
    warn: () => undefined,
    trace: (field, outcome) => void values.push({ field, outcome }),
  });
  const outcome = await outcomeOf(provider, exchange, request, {
    jobKey: request.jobKey,
    input: request.input,
    ...example.job,
  });
  return {
    exchange,
    requests,
    values,
    differences: [...requestDifferences(exchange, requests), ...outcomeDifferences(file, exchange, outcome)],
  };
}

type Outcome = { readonly means: string; readonly job?: Pick<Job, 'id'> & Partial<Job>; readonly url?: JsonValue };

async function outcomeOf(
  provider: PolledProvider,
  { step }: ExampleExchange,
  request: JobRequest,
  job: Job,
): Promise<Outcome> {
  const { signal } = new AbortController();
  switch (step) {
    case 'create':
      return createOutcome(await provider.submit(request, signal));
    case 'find': {
      // Long ago, so that nothing is left to wait for.
      const ours = {
        accountHashes: [request.accountHash],
        claimed: async () => new Set<string>(),
        countRivals: async () => 0,
      };
      const lost = { ...request, ...ours, intendedAt: 0 };
      const found = await provider.recover(lost, signal);
      return { means: found.kind, ...(found.kind === 'found' && { job: found }) };
    }
    case 'status': {
      const status = (await provider.status([job], signal)).get(job.jobKey);
      if (status?.state === 'succeeded') return { means: status.state, url: status.result?.['url'] ?? null };
      return { means: status?.state === 'failed' ? status.error.kind : (status?.state ?? 'unclear') };
    }
    case 'cancel':
      return { means: await provider.cancel(job, signal) };
    default:
      return step satisfies never;
  }
}

function createOutcome(outcome: SubmitOutcome): Outcome {
  if (outcome.kind === 'accepted') return { means: outcome.kind, job: outcome };
  if (outcome.kind === 'not_accepted') return { means: outcome.reason };
  return { means: outcome.kind === 'refused' ? outcome.error.kind : outcome.kind };
}

function requestDifferences(
  { request, second, sends, uploads }: ExampleExchange,
  requests: PlayedExchange['requests'],
): readonly string[] {
  const before = uploads.map((one) => one.request);
  const expected = [...before, request, ...(second === undefined ? [] : [second.request])];
  const lines = requests.map(({ line }) => line);
  const differences = isDeepStrictEqual(lines, expected)
    ? []
    : [`sends ${lines.join(', ')} instead of ${expected.join(', ')}`];
  const sent = requests[before.length]?.body;
  const isSent = sends === undefined || isDeepStrictEqual(sent, sends);
  return isSent ? differences : [...differences, `sends ${JSON.stringify(sent)} instead of ${JSON.stringify(sends)}`];
}

function outcomeDifferences(
  { example }: ProviderFile,
  { means }: ExampleExchange,
  outcome: Outcome,
): readonly string[] {
  const { job, url } = outcome;
  const differences = outcome.means === means ? [] : [`means ${outcome.means} instead of ${means}`];
  if (job !== undefined && !isDeepStrictEqual({ id: job.id, handle: job.handle ?? {} }, example.job))
    differences.push(`names the job ${JSON.stringify(job)} instead of ${JSON.stringify(example.job)}`);
  if (url !== undefined && url !== example.video)
    differences.push(`finds the video at ${JSON.stringify(url)} instead of ${example.video}`);
  return differences;
}
