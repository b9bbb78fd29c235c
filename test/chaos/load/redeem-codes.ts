import { setTimeout as delay } from 'node:timers/promises';
import { createCodesAs } from '../../../src/credits/ledger/redemption-codes.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { shell } from '../../support/service/person.ts';
import type { RedeemedCode } from '../judge/evidence.ts';
import { newOwner, type Owner, postAs } from './owners.ts';
import type { Random } from '../seeded-random.ts';

export const codeCredits = 700;
const redeemEveryMs = 5_000;

/** Two owners, of different accounts, who have the same code. */
export type Contest = { readonly code: string; readonly owners: readonly Owner[] };

/** Made before anything is broken. Each owner tries one code only, because the attempts of a person are limited. */
export async function prepareCodes(
  db: Database,
  { accountIds, random, durationMs }: { accountIds: readonly string[]; random: Random; durationMs: number },
): Promise<readonly Contest[]> {
  const count = Math.ceil(durationMs / redeemEveryMs);
  const { codes } = await createCodesAs(db, shell, { name: 'chaos', credits: codeCredits, codes: count });
  const contests: Contest[] = [];
  for (const [index, code] of codes.entries()) {
    const clients = random.shuffled([...accountIds.keys()]).slice(0, 2);
    const owners = clients.map((client) =>
      newOwner(db, { client, accountId: accountIds[client] ?? '' }, `owner-${index}-${client}@example.com`),
    );
    contests.push({ code, owners: await Promise.all(owners) });
  }
  return contests;
}

type Redeeming = {
  readonly contests: readonly Contest[];
  readonly baseUrls: readonly [string, ...string[]];
  readonly random: Random;
  /** Unanswered redemptions are repeated for this time. */
  readonly patienceMs: number;
};

/** Two accounts redeem each code at the same time, again and again until both have an answer. */
export async function redeemCodes(options: Redeeming): Promise<readonly RedeemedCode[]> {
  const running: Promise<RedeemedCode>[] = [];
  for (const contest of options.contests) {
    running.push(redeem(contest, options));
    await delay(redeemEveryMs);
  }
  return await Promise.all(running);
}

async function redeem({ code, owners }: Contest, options: Redeeming): Promise<RedeemedCode> {
  const statuses = await Promise.all(owners.map((owner) => insist(owner, code, options)));
  return {
    credits: codeCredits,
    winners: owners.flatMap(({ client }, index) => (statuses[index] === 200 ? [client] : [])),
    unanswered: statuses.filter((status) => status === undefined).length,
  };
}

async function insist(owner: Owner, code: string, { baseUrls, random, patienceMs }: Redeeming) {
  for (const giveUpAt = Date.now() + patienceMs; Date.now() < giveUpAt; await delay(500)) {
    const url = `${random.pick(baseUrls)}/api/console/v1/credits/redeem`;
    const { status } = await postAs(owner, url, { code }).catch(() => ({ status: 0 }));
    if (status === 200 || (status >= 400 && status < 500 && status !== 429)) return status;
  }
  return undefined;
}
