import type { Client as TemporalClient } from '@temporalio/client';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { scopes } from '../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { ensureSigningSecrets } from '../../src/tasks/callbacks/signing-secrets.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { createKeyUnchecked } from '../../src/accounts/keys/keys.ts';
import { setSpendCaps } from '../../src/accounts/limits/spend-caps.ts';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { connectTemporal } from '../../src/temporal/connection/connect.ts';
import { remainingOf } from '../support/processes/processes.ts';
import { buyCredits, prepareBuyers } from './load/buy-credits.ts';
import { check } from './judge/judge-evidence.ts';
import { deliverEvents } from './load/deliver-stripe-events.ts';
import type { Damage, Evidence, ProcessEvidence, RedeemedCode } from './judge/evidence.ts';
import type { Owner } from './load/owners.ts';
import { collectPayments, type PaymentEvidence } from './judge/payment-evidence.ts';
import { injectFaults } from './faults/faults.ts';
import { collectBooks, collectTasks, collectVideos, type Open, selectOpen } from './judge/collect-evidence.ts';
import { type Client, type Load, runLoad } from './load/load.ts';
import { injectNetworkFaults } from './faults/network-faults.ts';
import { createRandom } from './seeded-random.ts';
import { type Contest, prepareCodes, redeemCodes } from './load/redeem-codes.ts';
import { type Receiver, startReceiver } from './load/receiver.ts';
import { type ChaosReport, checkoutsOf, counted, endOfTask, outcomesOf } from './report.ts';
import { settle } from './wait-until-settled.ts';
import { passDays } from './load/reconcile-shop-days.ts';
import { breakShop } from './load/stripe-shop.ts';
import { explainSlowTasks, lifeMs } from './load/slow-tasks.ts';
import { type Stack, startStack } from './stack.ts';

export type ChaosOptions = {
  readonly seed: number;
  /** The duration of load and faults; settling comes on top. */
  readonly seconds: number;
  /** Holds everything: databases, results and logs. */
  readonly folder: string;
  readonly say: (message: string) => void;
};

const faultEveryMs = 5_000;
const settleLimitMs = 600_000;

/** Credits of each account; the last one is poor, so that refusals for lack of credits are among the answers. */
const openedWith = [1_000_000, 1_000_000, 1_000_000, 1_000] as const;

/** The account that may spend little, so that creates are refused, and accepted again after refunds. */
const cappedClient = 1;
const capCredits = 2_000;

/** Runs the real stack under load while it is hurt in every way we know, lets it settle, and checks it from the outside. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  await mkdir(options.folder, { recursive: true });
  const stack = await startStack(options.folder, options.say);
  const db = createDatabase({ url: stack.settings.databaseUrl, poolSize: 4, onIdleError: () => undefined });
  const temporal = connectTemporal(stack.settings.temporal);
  const people = await openAccounts(db, stack);
  const [random, durationMs] = [createRandom(options.seed + 5), options.seconds * 1_000];
  const contests = await prepareCodes(db, { accountIds: people.accountIds, random, durationMs });
  const buyers = await prepareBuyers(db, people.accountIds);
  const receiver = await startReceiver((client) => people.secrets[client] ?? '', createRandom(options.seed + 1));
  const scene: Scene = { options, stack, db, temporal: temporal.client, people, contests, buyers, receiver };
  let isClean = false;
  try {
    const { load, damage, network, codes, payments } = await breakIt(scene);
    const settleSeconds = await letItSettle(scene, load);
    const faults = [damage, load, receiver, { injected: network }, payments].flatMap(({ injected }) => [...injected]);
    const seen = await collect(scene, { load, damage, codes, payments });
    const slowTasks = await explainSlowTasks(temporal.client, seen.tasks);
    const evidence = { ...seen, processes: await stopProcesses(stack, options.folder) };
    const report = reportOf(options, evidence, {
      faults: Object.fromEntries(faults),
      orders: payments.orders,
      settleSeconds,
      slowTasks,
    });
    isClean = report.violations.length === 0;
    return report;
  } finally {
    await Promise.allSettled([temporal.close(), db.close()]);
    await stack.stop();
    await receiver.close();
    await stack.disks.unmount(!isClean);
  }
}

async function stopProcesses(stack: Stack, folder: string): Promise<ProcessEvidence> {
  const unruly = await stack.stop();
  const ended = [...stack.apis, ...stack.workers].flatMap((kept) => kept.ended);
  return { ended, unruly, left: await remainingOf({ folder }, settleLimitMs) };
}

type Scene = {
  readonly options: ChaosOptions;
  readonly stack: Stack;
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly people: People;
  readonly contests: readonly Contest[];
  readonly buyers: readonly Owner[];
  readonly receiver: Receiver;
};

async function breakIt(scene: Scene) {
  const { options, stack, people, contests, receiver, db, temporal } = scene;
  const { seed, seconds } = options;
  const durationMs = seconds * 1_000;
  options.say(`chaos for ${seconds} s with seed ${seed}`);
  const [load, damage, network, codes, payments] = await Promise.all([
    runLoad({
      baseUrls: baseUrlsOf(stack),
      clients: clientsOf(people.keys, receiver),
      random: createRandom(seed + 2),
      durationMs,
      kinds: stack.kinds.each,
    }),
    injectFaults({
      stack,
      db,
      temporal,
      random: createRandom(seed + 3),
      durationMs,
      say: options.say,
      pauseMs: faultEveryMs,
    }),
    injectNetworkFaults({ each: stack.kinds.each, db, seed: seed + 4, durationMs }),
    redeemCodes({
      contests,
      baseUrls: baseUrlsOf(stack),
      random: createRandom(seed + 6),
      patienceMs: durationMs + settleLimitMs,
    }),
    sellCredits(scene, durationMs),
  ]);
  return { load, damage, network, codes, payments };
}

type Sold = Pick<PaymentEvidence, 'ordered' | 'forgeries'> & Pick<ChaosReport, 'orders'> & Pick<Load, 'injected'>;

async function sellCredits({ options, stack, db, temporal, buyers }: Scene, durationMs: number): Promise<Sold> {
  const { shop } = stack;
  const random = (part: number) => createRandom(options.seed + part);
  const baseUrls = baseUrlsOf(stack);
  const [orders, { injected, forgeries }, network] = await Promise.all([
    buyCredits({ shop, buyers, baseUrls, random: random(7), durationMs }),
    deliverEvents({ stripe: shop.stripe, baseUrls, random: random(8), durationMs }),
    breakShop(shop, { random: random(9), durationMs }),
    passDays({ stack, db, temporal, durationMs }),
  ]);
  return {
    orders: counted(orders.map(({ answer }) => answer)),
    ordered: orders.flatMap(({ sessionId }) => sessionId ?? []),
    forgeries,
    injected: new Map([...injected, ...network]),
  };
}

/** Returns the seconds from the last fault until nothing was open. */
async function letItSettle({ options, ...scene }: Scene, load: Load): Promise<number> {
  const startedAt = Date.now();
  options.say('settling');
  await load.repeatUnanswered(settleLimitMs);
  await settle({ ...scene, limitMs: settleLimitMs });
  return (Date.now() - startedAt) / 1_000;
}

async function collect(
  { options, stack, db, people, receiver }: Scene,
  { load, damage, codes, payments }: { load: Load; damage: Damage; codes: readonly RedeemedCode[]; payments: Sold },
): Promise<Omit<Evidence, 'processes'>> {
  options.say('checking');
  const tasks = await collectTasks(db, people.accountIds);
  const [baseUrl] = baseUrlsOf(stack);
  const [open] = await db.run<Open>(selectOpen);
  const folder = join(options.folder, 'videos');
  return {
    wishes: load.wishes,
    setbacks: load.setbacks,
    tasks,
    callbacks: receiver.seen,
    videos: await collectVideos(tasks, { baseUrl, keys: people.keys, folder }),
    ...(await collectBooks(db, people.accountIds, openedWith)),
    codes,
    payments: { ...(await collectPayments(db, stack.shop.stripe.records)), ...payments },
    kindJobs: await stack.kinds.jobs(),
    unsettledJobs: open?.jobs ?? 0,
    damage,
    apisHurtAt: stack.apis.map(({ hurtAt }) => hurtAt),
  };
}

type People = {
  readonly accountIds: readonly string[];
  readonly keys: readonly string[];
  readonly secrets: readonly string[];
};

async function openAccounts(db: Database, { settings }: Stack): Promise<People> {
  const box = createSecretBox(settings.secret);
  const people = { accountIds: [] as string[], keys: [] as string[], secrets: [] as string[] };
  for (const [index, credits] of openedWith.entries()) {
    const accountId = await createAccount(db, { name: `client ${index}`, credits });
    const created = await createKeyUnchecked(db, { accountId, name: 'chaos', scopes });
    const [secret = ''] = await ensureSigningSecrets(db, box, accountId);
    if (index === cappedClient && created !== undefined) {
      for (const subject of [{ kind: 'key', id: created.keyId } as const, { kind: 'account', id: accountId } as const])
        await setSpendCaps(db, accountId, subject, { day: capCredits, total: capCredits });
    }
    people.accountIds.push(accountId);
    people.keys.push(created?.key ?? '');
    people.secrets.push(secret);
  }
  return people;
}

function clientsOf(keys: readonly string[], receiver: Receiver): readonly [Client, ...Client[]] {
  const [first, ...rest] = keys.map((key, index) => ({ index, key, callBackUrl: receiver.urlOf(index) }));
  if (first === undefined) throw new Error('there is no account');
  return [first, ...rest];
}

function baseUrlsOf({ apis }: Stack): readonly [string, ...string[]] {
  const [first, ...rest] = apis.map(({ baseUrl }) => baseUrl);
  if (first === undefined) throw new Error('there is no API');
  return [first, ...rest];
}

function reportOf(
  { seed, seconds }: ChaosOptions,
  evidence: Evidence,
  seen: Pick<ChaosReport, 'faults' | 'orders' | 'settleSeconds' | 'slowTasks'>,
): ChaosReport {
  return {
    seed,
    seconds,
    wishes: outcomesOf(evidence),
    codes: evidence.codes.length,
    checkouts: checkoutsOf(evidence),
    tasks: counted(evidence.tasks.map(endOfTask)),
    callbacks: evidence.callbacks.length,
    slowestTaskSeconds: Math.round(Math.max(0, ...evidence.tasks.map(lifeMs)) / 1_000),
    ...seen,
    settleSeconds: Math.round(seen.settleSeconds),
    jobs: [...evidence.kindJobs.values()].flat().length,
    ...check(evidence),
  };
}
