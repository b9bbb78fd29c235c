import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOwnUpstream } from '../fakes/own-upstream.ts';
import type { UpstreamBooks } from '../fakes/upstream-books.ts';

export type HouseUpstream = { readonly books: UpstreamBooks; readonly catalogue: string; close(): Promise<void> };

/** Its jobs take so long. */
const jobMs = 4_000;

/** An upstream whose jobs all succeed, and the file of a catalogue that sells its model beside one that is rendered here. */
export async function startHouseUpstream(folder: string): Promise<HouseUpstream> {
  const upstream = await startOwnUpstream();
  const begunAt = new Map<string, number>();
  const endJobs = async () => {
    for (const { id, state } of await upstream.books.jobs()) {
      const begun = begunAt.get(id) ?? Date.now();
      begunAt.set(id, begun);
      if (state === 'running' && Date.now() - begun >= jobMs) await upstream.books.end(id, 'succeeded');
    }
  };
  const ends = setInterval(() => void endJobs(), 200);
  const catalogue = await writeCatalogue(folder, upstream.address);
  return {
    books: upstream.books,
    catalogue,
    close: async () => {
      clearInterval(ends);
      await upstream.close();
    },
  };
}

/** A model that is rendered here, and one whose jobs run upstream. */
async function writeCatalogue(folder: string, upstream: string): Promise<string> {
  const path = join(folder, 'catalogue.json');
  // Without providers it is the preview, which is rendered on the workers.
  const local = { model: 'videogen-2.0-fast', title: 'Fast', prices: [{ creditsPerSecond: 33 }] };
  const remote = {
    model: 'remote-model',
    title: 'Remote',
    prices: [{ creditsPerSecond: 7 }],
    tiers: [[{ provider: 'house', model: 'wan' }]],
  };
  await writeFile(join(folder, 'house.key'), 'the key of the house');
  const providers = {
    house: { kind: 'own', baseUrl: `http://${upstream}`, key: { file: './house.key' }, limit: 100 },
  };
  await writeFile(path, JSON.stringify({ providers, models: [local, remote] }));
  return path;
}
