import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { listSpendCapsOfAccount } from '../../../src/accounts/limits/spend-caps.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { recordInfo } from '../../support/service/call-api.ts';
import type { Evidence, FinalTask, SeenVideo } from './evidence.ts';

const selectTasks = {
  name: 'chaos-tasks',
  text: `
select id as "taskId", account_id as "accountId", split_part(param->'input'->>'prompt', ' ', 1) as nonce, param->>'model' as model, state,
  fail_code as "failCode", credits_charged as "creditsCharged", credits_refunded as "creditsRefunded",
  callback_url is not null as "hasCallback", created_at as "createdAt", completed_at as "completedAt",
  generation_started_at as "generationStartedAt", result->>'sha256' as sha256
from tasks order by id`,
};

export async function collectTasks(db: Database, accountIds: readonly string[]): Promise<readonly FinalTask[]> {
  const rows = await db.run<Omit<FinalTask, 'client'> & { accountId: string }>(selectTasks);
  return rows.map(({ accountId, ...task }) => ({ ...task, client: accountIds.indexOf(accountId) }));
}

/** `settle` waits until all counts are 0. */
export const selectOpen = {
  name: 'chaos-open',
  text: `
select (select count(*) from tasks where state in ('waiting', 'queuing', 'generating')) as tasks,
  (select count(*) from callback_deliveries where state = 'pending') as callbacks,
  (select count(*) from provider_jobs j join tasks t on t.id = j.task_id
    where t.state = 'fail' and j.settled_at is null and (j.outcome is null or j.outcome = 'abandoned')) as jobs`,
};

export type Open = { readonly tasks: number; readonly callbacks: number; readonly jobs: number };

export async function collectBooks(
  db: Database,
  accountIds: readonly string[],
  opened: readonly number[],
): Promise<Pick<Evidence, 'ledger' | 'balances' | 'caps'>> {
  const caps = accountIds.map(async (accountId, client) =>
    (await listSpendCapsOfAccount(db, accountId)).map(({ credits, spent }) => ({ client, credits, spent })),
  );
  const accounts = await Promise.all(accountIds.map((accountId) => findAccount(db, accountId)));
  return {
    caps: (await Promise.all(caps)).flat(),
    ledger: await auditLedger(db),
    balances: accountIds.map((accountId, client) => ({
      accountId,
      opened: opened[client] ?? 0,
      now: accounts[client]?.balance ?? Number.NaN,
    })),
  };
}

/** Fetches every successful task's video through the link that its client is given, and checks that it is whole and plays. */
export async function collectVideos(
  tasks: readonly FinalTask[],
  { baseUrl, keys, folder }: { baseUrl: string; keys: readonly string[]; folder: string },
): Promise<Evidence['videos']> {
  await mkdir(folder, { recursive: true });
  const videos = new Map<string, SeenVideo | string>();
  for (const task of tasks) {
    const { taskId, client, state } = task;
    if (state !== 'success') continue;
    const file = join(folder, `${taskId}.mp4`);
    videos.set(taskId, await fetchAndProbe({ baseUrl, key: keys[client] ?? '' }, task, file).catch(String));
    await rm(file, { force: true });
  }
  return videos;
}

async function fetchAndProbe(
  api: { baseUrl: string; key: string },
  { taskId, sha256 }: FinalTask,
  file: string,
): Promise<SeenVideo> {
  const { body } = await recordInfo(api, taskId);
  // the documented shape
  const { resultUrls } = body.data['resultJson'] as { resultUrls: readonly string[] };
  const response = await fetch(String(resultUrls[0]));
  if (!response.ok) throw new Error(`the link answers ${response.status}`);
  const video = Buffer.from(await response.arrayBuffer());
  if (createHash('sha256').update(video).digest('hex') !== sha256) throw new Error('it is not the one in the record');
  await writeFile(file, video);
  const { widthPx, heightPx, durationSeconds, hasAudio } = await checkAndMeasureVideo(file);
  return { widthPx, seconds: Math.round(durationSeconds), hasSound: hasAudio, isUpright: heightPx > widthPx };
}
