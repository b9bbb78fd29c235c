import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/database.ts';
import {
  type ProviderSwitchPosition,
  setProviderSwitchAs,
} from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { type Fault, type FaultName, faults } from '../../fakes/fault-proxy.ts';
import type { KindUpstream } from '../load/kind-upstreams.ts';
import { createRandom, type Random } from '../seeded-random.ts';

export type NetworkFaultOptions = {
  readonly each: readonly KindUpstream[];
  readonly db: Database;
  readonly seed: number;
  readonly durationMs: number;
};

/** A short failure of one upstream: of its network, of itself, or by its operator's switch. */
type Trouble = FaultName | 'restarts' | 'is draining' | 'is off';

// The names are the table's. Upstreams restart between requests here, not within one.
const played = (Object.keys(faults) as readonly FaultName[]).filter(
  (name) => name !== 'passes a proxy' && name !== 'meets a restart of the upstream',
);
const troubles: readonly Trouble[] = [...played, 'restarts', 'is draining', 'is off'];

/** Injects failures at all upstreams concurrently. Returns the count of each. */
export async function injectNetworkFaults(options: NetworkFaultOptions): Promise<ReadonlyMap<string, number>> {
  const injected = new Map<string, number>();
  const endsAt = Date.now() + options.durationMs;
  const all = options.each.map(async (one, index) => {
    const random = createRandom(options.seed + index);
    for (let left: Trouble[] = []; Date.now() < endsAt;) {
      await delay(random.between(300, 3_000));
      if (left.length === 0) left = [...random.shuffled(troubles)];
      const trouble = left.pop() ?? 'restarts';
      await hurt(options.db, one, trouble, random);
      const name = `network: a request ${trouble}`;
      injected.set(name, 1 + (injected.get(name) ?? 0));
    }
  });
  await Promise.all(all);
  await Promise.all(options.each.map(({ name }) => turn(options.db, name, 'enabled')));
  return injected;
}

async function hurt(db: Database, { name, kind, upstream, proxy }: KindUpstream, trouble: Trouble, random: Random) {
  const pause = () => delay(random.between(500, 3_000));
  if (trouble === 'restarts') return await upstream.restart();
  if (trouble === 'is off' || trouble === 'is draining') {
    await turn(db, name, trouble === 'is off' ? 'off' : 'draining');
    await pause();
    return await turn(db, name, 'enabled');
  }
  const fault: Fault = faults[trouble];
  // A repeated create makes a second job where jobs have no names, or run as often as they are sent.
  const repeats = fault.forwarded === 2 || (fault.forwarded === 'late' && kind.repeats === true);
  // Half a video with a matching length cannot be detected.
  const part = repeats
    ? 'questions'
    : trouble === 'gets truncated JSON'
      ? 'creates'
      : random.pick(['all', 'creates', 'questions'] as const);
  await proxy.play(fault, (request) => part === 'all' || kind.isCreate(request) === (part === 'creates'));
  await pause();
  await proxy.heal();
  await proxy.release().catch(() => undefined);
  // These need an operator.
  if (trouble === 'gets 401' || trouble === 'gets a redirect') await turn(db, name, 'enabled');
}

/** Sets the switch as an operator does. The database may be unavailable for some time. */
async function turn(db: Database, provider: string, state: ProviderSwitchPosition): Promise<void> {
  const who = { kind: 'command_line', name: 'chaos' } as const;
  for (;;) {
    const isDone = await setProviderSwitchAs(db, who, { provider, state, reason: 'chaos' }).then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await delay(300);
  }
}
