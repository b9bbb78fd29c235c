import type { Command } from 'commander';
import { resolve } from 'node:path';
import { readConfig } from '../../config/config.ts';
import { scopes } from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import type { RunningService } from '../../embedded/start-service.ts';
import { retryStartStep } from '../../../platform/timing/retry-start-step.ts';
import { drainAndExitOnSignal, listenForStopSignal, tolerateOutputErrors } from '../../main/run-until-signal.ts';
import { createAccountIfNone } from '../../../credits/open-account.ts';
import { createDatabase, type Database } from '../../../platform/database/database.ts';
import { createSetupLink } from '../../../accounts/people/change-users-as-operator.ts';
import { urlOfLink } from '../../../accounts/sign-in/one-time-links.ts';
import { createKeyUnchecked } from '../../../accounts/keys/keys.ts';
import { addCommand } from '../add-command.ts';
import { sampleGenerateOptionsOf } from '../generate/generation-options-and-task-request.ts';
import { type CommandAnswer, commandLineAsTyped, isJsonRequested, printAnswer } from '../command-output-and-errors.ts';

export function addStartCommand(program: Command): void {
  addCommand(program, 'start', '', '--restored', '--json')
    .description('run the whole service, with an embedded PostgreSQL and Temporal unless the environment names others')
    .option(
      '--restored',
      'after you restored an older copy of the data: first refund every task that had not ended in it',
    )
    .action(async ({ restored: isRestored }: { readonly restored?: true }) => {
      tolerateOutputErrors();
      const asJson = isJsonRequested(program);
      const say = (message: string) => (asJson ? process.stderr : process.stdout).write(`${message}\n`);
      const signal = listenForStopSignal();
      const stopping = new AbortController();
      void signal.then(() => stopping.abort());
      const { startService } = await import('../../embedded/start-service.ts');
      const started = startService(readConfig(), say, stopping.signal, { isRestored });
      const service = await started.catch((error: unknown) => {
        // An interrupted start has stopped its servers.
        if (stopping.signal.aborted) process.exit(0);
        throw error;
      });
      const firstKey = await onDatabase(service, stopping.signal, 'create the first key', createFirstKey);
      const setupUrl = await createSetupUrl(service, stopping.signal);
      printAnswer(startAnswer(service, firstKey, setupUrl), asJson);
      await drainAndExitOnSignal(service, service.fatal, service.log, {
        signal,
        delayMs: service.settings.shutdownDelayMs,
      });
    });
}

function startAnswer(
  service: RunningService,
  firstKey: FirstKey | undefined,
  setupUrl: string | undefined,
): CommandAnswer {
  const { settings, logPath } = service;
  const { publicUrl, temporalUiUrl, dataFolder } = settings;
  const [consoleUrl, docsUrl] = [`${publicUrl}/console`, `${publicUrl}/docs`];
  const urls = { publicUrl, consoleUrl, docsUrl, temporalUiUrl: temporalUiUrl ?? null };
  const lines = [
    '',
    'Videogen is running. Press Ctrl-C to stop it; unfinished tasks continue at the next start.',
    '',
    `  API           ${publicUrl}`,
    `  Console       ${consoleUrl}`,
    `  Documentation ${docsUrl}`,
    ...(temporalUiUrl === undefined ? [] : [`  Temporal UI   ${temporalUiUrl}`]),
    `  Data          ${dataFolder}`,
    `  Log           ${logPath}`,
    '',
    ...(setupUrl === undefined
      ? []
      : ['  To set up the console, open this link in a browser within half an hour:', '', `  ${setupUrl}`, '']),
    ...(firstKey === undefined ? newKeyLines(service) : firstKeyLines(service, firstKey)),
    '',
  ];
  return { json: { ...urls, dataFolder, logPath, firstKey: firstKey ?? null, setupUrl: setupUrl ?? null }, lines };
}

function firstKeyLines({ settings }: RunningService, { accountId, key, credits }: FirstKey): readonly string[] {
  const { publicUrl, catalogue } = settings;
  const address = publicUrl === 'http://127.0.0.1:3000' ? [] : ['--base-url', publicUrl];
  return [
    `  Account ${accountId}`,
    `  has ${credits} credits. Its key is shown only once. In another terminal:`,
    '',
    `  export VIDEOGEN_API_KEY=${key}`,
    `  ${commandLineAsTyped('generate', '"a lighthouse in a storm"', ...sampleGenerateOptionsOf(catalogue), ...address)}`,
  ];
}

function newKeyLines({ settings: { dataFolder } }: RunningService): readonly string[] {
  const environment = dataFolder === resolve('data') ? '' : `VIDEOGEN_DATA=${dataFolder} `;
  return [
    '  Keys are shown only once. To create another one, in another terminal:',
    '',
    `  ${environment}${commandLineAsTyped('key', 'create', '--account', `"${firstAccountName}"`)}`,
  ];
}

const firstAccountName = 'first account';
/** Enough for 60 videos of five seconds from the fast model. */
const openingCredits = 10_000;

type FirstKey = { readonly accountId: string; readonly key: string; readonly credits: number };

/** Creates the link by which the first operator signs up. Returns undefined if one has signed up, or when `signal` aborts. */
function createSetupUrl(service: RunningService, signal: AbortSignal): Promise<string | undefined> {
  return onDatabase(service, signal, 'create the setup link', async (db) => {
    const link = await createSetupLink(db);
    return link && urlOfLink(service.settings.publicUrl, link);
  });
}

/** Returns undefined when `signal` aborts. */
async function onDatabase<T>(
  service: RunningService,
  signal: AbortSignal,
  step: string,
  work: (db: Database) => Promise<T>,
): Promise<T | undefined> {
  const { settings, log } = service;
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 1 });
  try {
    return await retryStartStep({ step, log, signal }, () => work(db));
  } catch (error) {
    if (signal.aborted) return undefined;
    await service.close();
    throw error;
  } finally {
    await db.close();
  }
}

/**
 * Account and key are created together, so that a retry never finds an account whose key was not shown. Returns undefined if the service
 * has accounts.
 */
function createFirstKey(db: Database): Promise<FirstKey | undefined> {
  return db.transaction(async (run) => {
    const accountId = await createAccountIfNone({ run }, { name: firstAccountName, credits: openingCredits });
    if (accountId === undefined) return undefined;
    const created = await createKeyUnchecked({ run }, { accountId, name: 'first key', scopes });
    return created && { accountId, key: created.key, credits: openingCredits };
  });
}
