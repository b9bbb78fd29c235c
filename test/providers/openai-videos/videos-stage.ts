import type { JsonObject } from '../../../src/platform/text/json.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import sharp from 'sharp';
import { parameterSchemas } from '../../../src/catalogue/file/provider-schema.ts';
import type { JobRequest, LostCreateToRecover } from '../../../src/providers/provider-contract.ts';
import type { DialectName } from '../../../src/providers/openai-videos/videos-dialects.ts';
import { createVideosProvider } from '../../../src/providers/openai-videos/videos-provider.ts';
import { startVideosUpstream } from '../../fakes/openai-videos-upstream.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { begun, type JobChanges, lostCall, signal, statusOf } from '../contract/job-request.ts';
import { clientFor, providerDeps } from '../loopback-client.ts';

export const key = 'test-key';

export async function stage(
  t: TestContext,
  dialect: DialectName,
  parameters: JsonObject = {},
  upstreamModel = 'model',
) {
  const upstream = await startVideosUpstream(dialect, key);
  t.after(() => upstream.close());
  const baseUrl = `http://${upstream.address}/v1`;
  // Only what a catalogue may say reaches a dialect.
  parameterSchemas['openai-videos'].parse(parameters);
  const config = { kind: 'openai-videos', baseUrl, upstreamModel, options: { dialect, parameters } } as const;
  const deps = providerDeps(config, clientFor(baseUrl, key));
  const provider = createVideosProvider(deps);
  const begin = async (changes: JobChanges = {}) => {
    const { request, job } = await begun(provider, changes);
    return { request, job, status: () => statusOf(provider, job) };
  };
  const lost = (request: JobRequest, changes: Partial<LostCreateToRecover> = {}) =>
    provider.recover(lostCall(request, changes), signal);
  return { upstream, baseUrl, deps, provider, begin, lost };
}

export async function images(t: TestContext, count: number) {
  const folder = await temporaryFolder(t);
  const jpeg = await sharp({ create: { width: 90, height: 160, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  const made = Array.from({ length: count }, (_, index) => join(folder, `${index}.jpg`));
  await Promise.all(made.map((path) => writeFile(path, jpeg)));
  const files = made.map((path) => ({ path, widthPx: 90, heightPx: 160 }));
  const [firstFrame, lastFrame] = files;
  return { jpeg, images: files, frames: { firstFrame, lastFrame } };
}
