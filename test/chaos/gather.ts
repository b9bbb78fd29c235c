import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { probeVideo } from '../../src/media/probe-video.ts';
import { findAccount } from '../../src/stores/accounts.ts';
import type { Database } from '../../src/stores/database.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { recordInfo } from '../support/api.ts';
import type { Evidence, FinalTask } from './evidence.ts';

const selectTasks = {
  name: 'chaos-tasks',
  text: `
select id as "taskId", account_id as "accountId", split_part(param->'input'->>'prompt', ' ', 1) as nonce, state,
  fail_code as "failCode", credits_charged as "creditsCharged", credits_refunded as "creditsRefunded",
  callback_url is not null as "hasCallback", created_at as "createdAt", completed_at as "completedAt"
from tasks order by id`,
};

export async function gatherTasks(db: Database, accountIds: readonly string[]): Promise<readonly FinalTask[]> {
  const rows = await db.run<Omit<FinalTask, 'client'> & { accountId: string }>(selectTasks);
  return rows.map(({ accountId, ...task }) => ({ ...task, client: accountIds.indexOf(accountId) }));
}

export async function gatherBooks(
  db: Database,
  accountIds: readonly string[],
  opened: readonly number[],
): Promise<Pick<Evidence, 'ledger' | 'balances'>> {
  const accounts = await Promise.all(accountIds.map((accountId) => findAccount(db, accountId)));
  return {
    ledger: await auditLedger(db),
    balances: accounts.map((account, index) => ({ opened: opened[index] ?? 0, now: account?.balance ?? Number.NaN })),
  };
}

/** Fetches every successful task's video through the link that its client is given, and sees whether it plays. */
export async function gatherVideos(
  tasks: readonly FinalTask[],
  { baseUrl, keys, folder }: { baseUrl: string; keys: readonly string[]; folder: string },
): Promise<ReadonlyMap<string, string | undefined>> {
  await mkdir(folder, { recursive: true });
  const faults = new Map<string, string | undefined>();
  for (const { taskId, client, state } of tasks) {
    if (state !== 'success') continue;
    const file = join(folder, `${taskId}.mp4`);
    const fault = await fetchAndProbe({ baseUrl, key: keys[client] ?? '' }, taskId, file).catch(String);
    faults.set(taskId, fault);
    await rm(file, { force: true });
  }
  return faults;
}

async function fetchAndProbe(api: { baseUrl: string; key: string }, taskId: string, file: string): Promise<undefined> {
  const { body } = await recordInfo(api, taskId);
  // What the record of a successful task holds.
  const { resultUrls } = body.data['resultJson'] as { resultUrls: readonly string[] };
  const response = await fetch(String(resultUrls[0]));
  if (!response.ok) throw new Error(`the link answers ${response.status}`);
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
  const { widthPx } = await probeVideo(file);
  if (widthPx !== 1280) throw new Error(`it is ${widthPx} px wide`);
}
