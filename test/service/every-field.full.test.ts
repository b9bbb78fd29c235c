import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { checkAndMeasureVideo } from '../../src/media/video/check-and-measure-video.ts';
import { type FieldName, inputFieldNames } from '../../src/catalogue/input/task-input.ts';
import { upstreamKey } from '../fakes/provider-kinds.ts';
import { pinnedFfmpeg } from '../providers/preview/render-support.ts';
import { type Answer, type Api, createdTask, post, resultUrlsIn, waitForRecord } from '../support/service/call-api.ts';
import {
  defaults,
  everyField,
  joined,
  leftOut,
  type Media,
  startMedia,
  valueFor,
} from '../support/every-field/every-field.ts';
import { type FieldKind, fieldKinds } from '../support/every-field/field-kinds.ts';
import { carriedBy } from '../support/every-field/carried-fields.ts';
import { workflow } from '../support/every-field/expected-template-requests.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

// For every kind of provider, tasks that together have every field which the kind can pass on, from createTask to the request that
// the upstream recorded. test/catalogue/input/fields-sent-upstream.test.ts finds a field of a kind that no task here has.

const charge = 7 * 9 + 4;
const prices = [
  { when: { resolution: everyField.resolution.value }, creditsPerSecond: 9, creditsPerVideo: 4 },
  { creditsPerSecond: 50 },
];
/** The client leaves out `style`, which has a default. */
const recordedOptions = { cameraFixed: true, style: 'natural' };
const previewKind = { settings: { kind: 'preview' } };

/** A model that takes exactly these fields. */
function modelWith(name: string, fields: readonly FieldName[], entry: object) {
  const input = Object.fromEntries(fields.map((field) => [field, everyField[field].bounds]));
  return { model: name, title: name, input: { ...leftOut, ...input }, prices, tiers: [[{ provider: name, ...entry }]] };
}

describe('a task passes on every field', () => {
  let folder: string;
  let media: Media;
  let service: TestService;
  let api: Api;
  const started = new Map<string, Awaited<ReturnType<FieldKind['start']>>>();
  const played = Object.entries(fieldKinds).filter(([, { skip = false }]) => skip === false);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'every-field-'));
    media = await startMedia();
    await Promise.all(played.map(async ([name, { start }]) => started.set(name, await start(media))));
    await writeFile(join(folder, 'key'), `${upstreamKey}\n`);
    await writeFile(join(folder, 'workflow.json'), JSON.stringify(workflow));
    const providers = played.map(([name, { settings, path = '' }]) => {
      const baseUrl = `http://${started.get(name)?.upstream.address}${path}`;
      return [name, { ...settings, baseUrl, key: { file: './key' } }] as const;
    });
    const models = played.map(([name, kind]) => {
      const { upstreamModel = 'upstream-model', parameters = {} } = kind;
      // The fakes deliver the same film for every order.
      return { ...modelWith(name, carriedBy(kind), { model: upstreamModel, parameters }), shortfall: 'accept' };
    });
    const preview = modelWith('preview', carriedBy(previewKind), {});
    const catalogue = join(folder, 'catalogue.json');
    await writeFile(
      catalogue,
      JSON.stringify({ providers: Object.fromEntries(providers), models: [...models, preview] }),
    );
    service = await startTestService({ VIDEOGEN_MODELS: catalogue });
    api = { baseUrl: service.baseUrl, key: (await createTestAccount(service.database)).key };
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await service.close();
    await Promise.all([...started.values()].map(({ upstream }) => upstream.close()));
    await media.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  const inputWith = (fields: readonly FieldName[], prompt: string) => ({
    ...Object.fromEntries(fields.map((field) => [field, valueFor(field, media)])),
    prompt,
  });

  async function assertRecorded(taskId: string, model: string, input: object): Promise<Answer['body']['data']> {
    const record = await waitForRecord(api, taskId);
    assert.equal(record['state'], 'success', String(record['failMsg']));
    const expected = { ...defaults, ...input, ...('options' in input && { options: recordedOptions }) };
    assert.deepEqual(record['param'], { model, input: expected });
    assert.deepEqual([record['creditsCharged'], record['creditsRefunded']], [charge, 0]);
    return record;
  }

  // A task mostly waits for the pauses between polls. Those of one kind run one after the other, because `received` is about its last request.
  describe('of a provider', { concurrency: true }, () => {
    for (const [name, kind] of Object.entries(fieldKinds)) {
      describe(name, { concurrency: 1 }, () => {
        const { tasks, skip = false } = kind;
        for (const [index, { sent, always }] of tasks.entries()) {
          // The vocabulary's own names.
          const fields = Object.keys(sent) as FieldName[];
          test(`of ${name}: ${fields.join(', ')}`, { skip }, async () => {
            const { upstream, received } = started.get(name) ?? assert.fail();
            const prompt = `every field of ${name}, task ${index}`;
            const input = inputWith(fields, prompt);
            const quote = await post(api, '/api/v1/jobs/price', { model: name, input });
            assert.equal(quote.body.data['credits'], charge, quote.body.msg);
            const taskId = await createdTask(api, input, { model: name });
            const job = await waitFor('its job', async () => (await upstream.books.jobsFor(prompt))[0]);
            const shown = JSON.stringify(await received());
            const request: unknown = JSON.parse(shown.replaceAll(prompt, 'the prompt').replaceAll(taskId, 'the task'));
            assert.deepEqual(request, joined([always, ...Object.values(sent)]));
            await upstream.books.end(job.id, 'succeeded');
            await assertRecorded(taskId, name, input);
            assert.equal((await upstream.books.jobsFor(prompt)).length, 1);
          });
        }
      });
    }
  });

  /** The film of a task of `preview`, whose only record is the film itself. */
  async function filmOf(input: object): Promise<string> {
    const taskId = await createdTask(api, input, { model: 'preview' });
    const [url = ''] = resultUrlsIn(await assertRecorded(taskId, 'preview', input));
    const path = join(folder, `${taskId}.mp4`);
    await writeFile(path, Buffer.from(await (await fetch(url)).arrayBuffer()));
    return path;
  }

  /** The channel that has most of the light in the frame at this time. */
  async function colorAt(path: string, seconds: string): Promise<string | undefined> {
    const raw = ['-frames:v', '1', '-vf', 'scale=1:1', '-f', 'rawvideo', '-pix_fmt', 'rgb24'];
    const args = ['-ss', seconds, '-i', path, ...raw, `${path}.rgb`];
    await pinnedFfmpeg()({ args, cwd: folder, signal: new AbortController().signal });
    const light = [...(await readFile(`${path}.rgb`))];
    return ['red', 'green', 'blue'][light.indexOf(Math.max(...light))];
  }

  const drawn: readonly FieldName[] = ['prompt', 'resolution', 'duration', 'ratio', 'generateAudio', 'seed'];
  const photographed: readonly FieldName[] = ['imageUrls', 'firstFrameUrl', 'lastFrameUrl'];

  test(`of preview, to its film: ${[...drawn, ...photographed].join(', ')}`, async () => {
    const path = await filmOf(inputWith([...drawn, ...photographed], 'a film with pictures'));
    const { widthPx, heightPx, durationSeconds, hasAudio } = await checkAndMeasureVideo(path);
    assert.deepEqual([widthPx, heightPx, Math.round(durationSeconds), hasAudio], [480, 854, 7, false]);
    const colors = [await colorAt(path, '0.5'), await colorAt(path, '3.5'), await colorAt(path, '6.5')];
    assert.deepEqual(colors, ['red', 'green', 'blue']);
    const films = [{}, {}, { seed: 43 }, { prompt: 'another film' }].map(async (changes) =>
      readFile(await filmOf({ ...inputWith(drawn, 'a film'), ...changes })),
    );
    const [film = Buffer.of(), again, otherSeed, otherPrompt] = await Promise.all(films);
    assert.deepEqual(
      [again, otherSeed, otherPrompt].map((one) => one?.equals(film)),
      [true, false, false],
    );
  });

  test('of preview, which these are', () => {
    assert.deepEqual(
      inputFieldNames.filter((field) => [...drawn, ...photographed].includes(field)),
      carriedBy(previewKind),
    );
  });
});
