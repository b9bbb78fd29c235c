import { type Command, Option } from 'commander';
import pLimit from 'p-limit';
import { readConfig } from '../../config/config.ts';
import { messageOf } from '../../../platform/setup-errors-and-error-messages.ts';
import { nameOfStore } from '../../../media/store/store-location.ts';
import { defaultStoreLocation, openMediaFiles } from '../../../media/store/open-store.ts';
import { copyFinishedFiles, type CopyProgress } from '../../../media/store/copy-finished-files.ts';
import { overwriteStoreAndNamespaceOwner } from '../../../media/store/store-and-namespace-ownership.ts';
import type { MediaFiles } from '../../../media/store/result-store.ts';
import type { Database } from '../../../platform/database/database.ts';
import { type StoredResult, listStoredResults } from '../../../tasks/list/task-counts-and-results-for-operators.ts';
import { markMediaDeleted } from '../../../tasks/end/expired-media-rows.ts';
import { addCommand } from '../add-command.ts';
import { interruptionError, listenForInterruptions } from '../interruption.ts';
import { type CommandAnswer, CommandError, isJsonRequested, printAnswer } from '../command-output-and-errors.ts';
import type { DatabaseAndConfig, RunOnDatabase } from '../database-and-temporal-for-commands.ts';

export function addResultStoreCommands(program: Command, run: RunOnDatabase): void {
  const media = addCommand(program, 'media').description('check and copy the files of results');
  addCommand(media, 'check', '', '--forget --json')
    .description('list videos that are missing in the store; exit code 1 if there are any')
    .addOption(
      new Option(
        '--forget [all]',
        'mark them as deleted, so that their links return 410; `all`: even if most videos are missing',
      ).choices(['all']),
    )
    .action(run(check));
  addCommand(media, 'adopt', '', '--json')
    .description(
      'make RESULT_STORE and TEMPORAL_NAMESPACE those of this installation, after they were replaced on purpose',
    )
    .action(run(adopt));
  addCommand(media, 'copy', '', '--json')
    .description('copy missing files from RESULT_STORE_ALSO to RESULT_STORE, while the service runs; safe to repeat')
    .action(async () => {
      const answer = await copy(program);
      printAnswer(answer, isJsonRequested(program));
    });
}

/** All missing videos are counted, and as many listed. */
const maxListed = 1_000;
const pageSize = 500;
const concurrency = 16;
/** `--forget` needs `all` if a larger share of the videos is lost. */
const maxForgottenShare = 0.5;

async function check(
  { db, config }: DatabaseAndConfig,
  { forget }: { readonly forget?: true | 'all' },
): Promise<CommandAnswer> {
  const { resultStore = defaultStoreLocation(config), resultStoreAlso } = config;
  const locations = resultStoreAlso === undefined ? [resultStore] : [resultStore, resultStoreAlso];
  const stores = await Promise.all(locations.map((location) => openMediaFiles(location, config)));
  const tasks: Pick<StoredResult, 'taskId' | 'accountId' | 'creditsCharged'>[] = [];
  const counts = { checked: 0, missing: 0, creditsCharged: 0 };
  for await (const { page, lost } of lostResults(db, stores)) {
    counts.checked += page.length;
    counts.missing += lost.length;
    counts.creditsCharged += lost.reduce((sum, { creditsCharged }) => sum + creditsCharged, 0);
    for (const { taskId, accountId, creditsCharged } of lost.slice(0, maxListed - tasks.length))
      tasks.push({ taskId, accountId, creditsCharged });
  }
  if (counts.missing > 0) process.exitCode = 1;
  if (forget !== undefined) {
    // A mistyped store, or one that was just lost, may have a few new videos.
    if (counts.missing > counts.checked * maxForgottenShare && forget !== 'all')
      throw new CommandError(
        `${counts.missing} of ${counts.checked} videos are not in ${nameOfStore(resultStore)}. If that is the correct store, repeat with --forget all.`,
      );
    for await (const { lost } of lostResults(db, stores))
      for (const { taskId } of lost) await markMediaDeleted(db, taskId);
  }
  const summary = `${counts.missing} of ${counts.checked} videos are lost; ${counts.creditsCharged} credits were charged for them.`;
  const lines = tasks.map(
    ({ taskId, accountId, creditsCharged }) => `${taskId}  ${creditsCharged} credits  ${accountId}`,
  );
  return { json: { ...counts, tasks }, lines: [...lines, summary] };
}

/** Returns pages of the results that clients may still fetch, and those of them that no store has. */
async function* lostResults(db: Database, stores: readonly MediaFiles[]) {
  const limit = pLimit(concurrency);
  const isLost = async ({ videoKey }: StoredResult) => {
    for (const files of stores) if ((await files.sizeOf(videoKey)) !== undefined) return false;
    return true;
  };
  let after: string | undefined;
  for (;;) {
    const page = await listStoredResults(db, after, pageSize);
    const areLost = await Promise.all(page.map((result) => limit(isLost, result)));
    yield { page, lost: page.filter((_result, index) => areLost[index]) };
    after = page.at(-1)?.taskId;
    if (page.length < pageSize) return;
  }
}

async function adopt({ db, config }: DatabaseAndConfig): Promise<CommandAnswer> {
  const { resultStore = defaultStoreLocation(config), resultStoreAlso, temporal, temporalNamespace } = config;
  const namespace = temporal?.namespace ?? temporalNamespace;
  await overwriteStoreAndNamespaceOwner(db, { ...config, resultStore, resultStoreAlso }, namespace);
  const store = nameOfStore(resultStore);
  return {
    json: { store, namespace },
    lines: [`${store} and the namespace ${namespace} are those of this installation. Restart its processes.`],
  };
}

const progressEveryMs = 2_000;

async function copy(program: Command): Promise<CommandAnswer> {
  const config = readConfig();
  const { resultStore = defaultStoreLocation(config), resultStoreAlso: also } = config;
  if (also === undefined)
    throw new CommandError('RESULT_STORE_ALSO is not set: set it to the store that the files are copied from');
  const names = { from: nameOfStore(also), to: nameOfStore(resultStore) };
  if (names.from === names.to) throw new CommandError('RESULT_STORE and RESULT_STORE_ALSO are the same store');
  const { signal } = listenForInterruptions();
  let printedAt = 0;
  const onProgress = (progress: Readonly<CopyProgress>) => {
    if (isJsonRequested(program) || Date.now() - printedAt < progressEveryMs) return;
    printedAt = Date.now();
    const { doneFiles, files, doneBytes, bytes } = progress;
    process.stderr.write(`${doneFiles} of ${files} files, ${gigabytes(doneBytes)} of ${gigabytes(bytes)} GB\n`);
  };
  const [from, to] = await Promise.all([openMediaFiles(also, config), openMediaFiles(resultStore, config)]);
  const { copied, present, deleted, failed, unfinished, files } = await copyFinishedFiles({
    from,
    to,
    onProgress,
    signal,
  });
  for (const { key, error } of failed) process.stderr.write(`${key}: ${messageOf(error)}\n`);
  const counts = `${copied} copied, ${present} already there, ${deleted} deleted meanwhile, ${failed.length} failed`;
  if (signal.aborted) throw interruptionError(`Interrupted: ${counts}. Repeat the command to continue.`);
  if (failed.length > 0) throw new CommandError(`${counts}. Repeat the command.`);
  const rest =
    unfinished === 0
      ? `Every file of ${names.from} that is needed is in ${names.to}: RESULT_STORE_ALSO can be removed.`
      : `${unfinished} files of unfinished tasks are still in ${names.from}: repeat the command later, until there are none.`;
  return {
    json: { ...names, files, copied, present, deleted, unfinished },
    lines: [`From ${names.from} to ${names.to}: ${counts}.`, rest],
  };
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}
