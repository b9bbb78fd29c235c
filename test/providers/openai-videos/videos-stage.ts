import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import sharp from 'sharp';
import type { JobRequest, JsonObject, LostCall } from '../../../src/providers/contract.ts';
import type { DialectName } from '../../../src/providers/openai-videos/dialects.ts';
import { createVideosProvider } from '../../../src/providers/openai-videos/videos-provider.ts';
import { startVideosUpstream } from '../../fakes/videos.ts';
import { jobOf, jobRequest, type JobChanges } from '../job-request.ts';
import { clientFor } from '../provider-client.ts';

export const key = 'test-key';
export const { signal } = new AbortController();

export async function stage(
  t: TestContext,
  dialect: DialectName,
  parameters: JsonObject = {},
  upstreamModel = 'model',
) {
  const upstream = await startVideosUpstream(dialect, key);
  t.after(() => upstream.close());
  const baseUrl = `http://${upstream.address}/v1`;
  const provider = createVideosProvider({
    name: 'videos',
    config: { kind: 'openai-videos', baseUrl, upstreamModel, options: { dialect, parameters } },
    client: clientFor(baseUrl, key),
    pollsPerSecond: 14,
    submitTimeoutMs: 60_000,
    warn: () => undefined,
  });
  const begin = async (changes: JobChanges = {}) => {
    const request = jobRequest(changes);
    const outcome = await provider.submit(request, signal);
    assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
    const job = jobOf(request, outcome.id);
    return { request, job, status: async () => (await provider.status([job], signal)).get(job.jobKey) };
  };
  const lost = (request: JobRequest, changes: Partial<LostCall> = {}) =>
    provider.recover(
      { ...request, intendedAt: Date.now(), claimed: async () => new Set<string>(), rivals: 0, ...changes },
      signal,
    );
  return { upstream, baseUrl, provider, begin, lost };
}

export async function images(t: TestContext, count: number) {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-videos-'));
  t.after(() => rm(folder, { recursive: true }));
  const jpeg = await sharp({ create: { width: 90, height: 160, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  const made = Array.from({ length: count }, (_, index) => join(folder, `${index}.jpg`));
  await Promise.all(made.map((path) => writeFile(path, jpeg)));
  const files = made.map((path) => ({ path, widthPx: 90, heightPx: 160 }));
  const [firstFrame, lastFrame] = files;
  const frames = { ...(firstFrame && { firstFrame }), ...(lastFrame && { lastFrame }) };
  return { jpeg, images: async () => files, frames };
}
