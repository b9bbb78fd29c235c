import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FaultProxy, startFaultProxy } from '../fakes/fault-proxy.ts';
import { catalogueOf, type Kind, type PlacedKind, writeKindFiles } from '../fakes/kinds.ts';
import type { BookedJob, RunningUpstream } from '../fakes/upstream-books.ts';
import type { TestEnvironment } from './service.ts';

// The catalogue of a service whose tasks each have a provider, and a way there, of their own, so that what happens to one is nothing
// to the others. All providers of a kind are the same upstream.

export type Seat = {
  /** Of the provider and of its model. */
  readonly name: string;
  readonly kindName: string;
  readonly kind: Kind;
  readonly upstream: RunningUpstream;
  readonly proxy: FaultProxy;
  readonly prompt: string;
  /** Whether its job may come to its end. A model that ends alone does not ask. */
  mayEnd: boolean;
  /** Its job has ended, and the upstream says so. */
  isEnded: boolean;
};

export type KindService = {
  readonly seats: readonly Seat[];
  /** For the processes of the service, beside what the environment says. */
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
};

export type Seating = {
  readonly kindName: string;
  readonly kind: Kind;
  /** An upstream of its own, which it may restart. */
  readonly isAlone?: boolean;
};

const endEveryMs = 50;

/** Starts the upstreams, and writes the catalogue with a seat for each of `seatings`, in their order. */
export async function startKindService(
  { settings }: TestEnvironment,
  seatings: readonly Seating[],
  common: Partial<PlacedKind> = {},
): Promise<KindService> {
  const shared = new Map<Kind, Promise<RunningUpstream>>();
  const upstreams: RunningUpstream[] = [];
  const start = async (kind: Kind) => {
    const upstream = await kind.start();
    upstreams.push(upstream);
    return upstream;
  };
  const seats = await Promise.all(
    seatings.map(async ({ kindName, kind, isAlone = false }, index): Promise<Seat> => {
      const starting = (isAlone ? undefined : shared.get(kind)) ?? start(kind);
      if (!isAlone) shared.set(kind, starting);
      const upstream = await starting;
      const proxy = await startFaultProxy(upstream);
      const name = `${kindName}-${index}`;
      return { name, kindName, kind, upstream, proxy, prompt: `a film ${index}`, mayEnd: false, isEnded: false };
    }),
  );
  const seatOf = new Map(seats.map((seat) => [seat.prompt, seat]));
  let isEnding = false;
  const ender = setInterval(() => {
    if (isEnding) return;
    isEnding = true;
    void endJobs(upstreams, seatOf).finally(() => (isEnding = false));
  }, endEveryMs);
  const folder = settings.dataFolder;
  const modelsFile = join(folder, 'models.json');
  const placed = seats.map(({ name, kind, proxy: { baseUrl } }) => ({ ...common, name, kind, baseUrl }));
  await writeKindFiles(folder);
  await writeFile(modelsFile, JSON.stringify(catalogueOf(placed)));
  return {
    seats,
    variables: { VIDEOGEN_MODELS: modelsFile },
    close: async () => {
      clearInterval(ender);
      await Promise.all(seats.map(({ proxy }) => proxy.close()));
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

async function endJobs(upstreams: readonly RunningUpstream[], seatOf: ReadonlyMap<string, Seat>): Promise<void> {
  for (const { books } of upstreams) {
    for (const job of await books.jobs()) {
      const seat = seatOf.get(job.prompt);
      if (seat !== undefined) await endIfDue(seat, job);
    }
  }
}

async function endIfDue(seat: Seat, { id, state }: BookedJob): Promise<void> {
  if (!seat.mayEnd || state !== 'running' || seat.kind.endsAlone === true) return;
  await seat.upstream.books.end(id, 'succeeded');
  seat.isEnded = true;
}
