import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { nameOfStore } from '../domain/store-location.ts';
import { openFiles, usualStore } from '../main/open-store.ts';
import { copyFiles, type CopyProgress } from '../media/copy-files.ts';
import { interrupted, listenForInterruptions } from './interruption.ts';
import { type Answer, CommandError, isJson, printAnswer } from './output.ts';

export function addMediaCommand(program: Command): void {
  program
    .command('media')
    .description('the files of results')
    .command('copy')
    .description('copy what RESULT_STORE_ALSO has and RESULT_STORE lacks, while the service runs; safe to repeat')
    .action(async () => {
      const answer = await copy(program);
      printAnswer(answer, isJson(program));
    });
}

/** How often a person reads how far it has come. */
const sayEveryMs = 2_000;

async function copy(program: Command): Promise<Answer> {
  const config = readConfig();
  const { resultStore = usualStore(config), resultStoreAlso: also } = config;
  if (also === undefined) throw new CommandError('Set RESULT_STORE_ALSO to the store that the files are copied from.');
  const names = { from: nameOfStore(also), to: nameOfStore(resultStore) };
  if (names.from === names.to) throw new CommandError('RESULT_STORE and RESULT_STORE_ALSO are the same store.');
  const { signal } = listenForInterruptions();
  let saidAt = 0;
  const onProgress = (progress: Readonly<CopyProgress>) => {
    if (isJson(program) || Date.now() - saidAt < sayEveryMs) return;
    saidAt = Date.now();
    const { doneFiles, files, doneBytes, bytes } = progress;
    process.stderr.write(`${doneFiles} of ${files} files, ${gigabytes(doneBytes)} of ${gigabytes(bytes)} GB\n`);
  };
  const [from, to] = await Promise.all([openFiles(also, config), openFiles(resultStore, config)]);
  const { copied, present, gone, failed, unfinished, files } = await copyFiles({ from, to, onProgress, signal });
  for (const { key, error } of failed)
    process.stderr.write(`${key}: ${error instanceof Error ? error.message : String(error)}\n`);
  const counts = `${copied} copied, ${present} already there, ${gone} deleted meanwhile, ${failed.length} failed`;
  if (signal.aborted) throw interrupted(`Broken off: ${counts}. Repeat the command to go on.`);
  if (failed.length > 0) throw new CommandError(`${counts}. Repeat the command.`);
  const rest =
    unfinished === 0
      ? `Nothing else is in ${names.from}: RESULT_STORE_ALSO can be taken away.`
      : `${unfinished} files of unfinished tasks are still in ${names.from}: repeat the command later, until there are none.`;
  return {
    json: { ...names, files, copied, present, gone, unfinished },
    lines: [`From ${names.from} to ${names.to}: ${counts}.`, rest],
  };
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}
