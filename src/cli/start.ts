import type { Command } from 'commander';
import { resolve } from 'node:path';
import { readConfig } from '../config.ts';
import { scopes } from '../domain/api-key.ts';
import type { Service } from '../embedded/service.ts';
import { retry } from '../main/retry.ts';
import { runUntilSignal, signalled } from '../main/run-until-signal.ts';
import { createFirstAccount } from '../stores/accounts.ts';
import { createDatabase, type Database } from '../stores/database.ts';
import { createSetupLink } from '../stores/people.ts';
import { addressOfLink } from '../stores/one-time-links.ts';
import { createApiKey } from '../stores/keys.ts';
import { firstWish } from './generation-options.ts';
import { type Answer, invocation, isJson, printAnswer } from './output.ts';

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description(
      'run the whole service, with a PostgreSQL and a Temporal of its own unless the environment names others',
    )
    .action(async () => {
      const asJson = isJson(program);
      const say = (message: string) => (asJson ? process.stderr : process.stdout).write(`${message}\n`);
      const signal = signalled();
      const stopping = new AbortController();
      void signal.then(() => stopping.abort());
      const { startService } = await import('../embedded/service.ts');
      const service = await startService(readConfig(), say, stopping.signal).catch((error: unknown) => {
        // Broken off before it ran: what had been started is stopped already.
        if (stopping.signal.aborted) process.exit(0);
        throw error;
      });
      const firstKey = await firstKeyOf(service, stopping.signal);
      const setupUrl = await setupUrlOf(service, stopping.signal);
      printAnswer(startAnswer(service, firstKey, setupUrl), asJson);
      await runUntilSignal(service, service.fatal, service.log, { signal, delayMs: service.settings.shutdownDelayMs });
    });
}

/** What a start says: where everything is, and how to make the first video. A key is known at the first start only. */
function startAnswer(service: Service, firstKey: FirstKey | undefined, setupUrl: string | undefined): Answer {
  const { settings, logPath } = service;
  const json = {
    publicUrl: settings.publicUrl,
    consoleUrl: `${settings.publicUrl}/console`,
    docsUrl: `${settings.publicUrl}/docs`,
    temporalUiUrl: settings.temporalUiUrl ?? null,
    dataFolder: settings.dataFolder,
    logPath,
    firstKey: firstKey ?? null,
    setupUrl: setupUrl ?? null,
  };
  const lines = [
    '',
    'Videogen is running. Ctrl-C stops it; tasks under way go on at the next start.',
    '',
    `  API           ${settings.publicUrl}`,
    `  Console       ${settings.publicUrl}/console`,
    `  Documentation ${settings.publicUrl}/docs`,
    ...(settings.temporalUiUrl === undefined ? [] : [`  Temporal UI   ${settings.temporalUiUrl}`]),
    `  Data          ${settings.dataFolder}`,
    `  Log           ${logPath}`,
    '',
    ...(setupUrl === undefined ? [] : setupLines(setupUrl)),
    ...(firstKey === undefined ? anotherKeyLines(service) : firstKeyLines(service, firstKey)),
    '',
  ];
  return { json, lines };
}

function setupLines(setupUrl: string): readonly string[] {
  return ['  To set the console up, open this in a browser within half an hour:', '', `  ${setupUrl}`, ''];
}

function firstKeyLines({ settings }: Service, { accountId, key, credits }: FirstKey): readonly string[] {
  const address = settings.publicUrl === 'http://127.0.0.1:3000' ? [] : ['--base-url', settings.publicUrl];
  return [
    `  The first account, ${accountId},`,
    `  has ${credits} credits. Its key is shown only this once. In another terminal:`,
    '',
    `  export VIDEOGEN_API_KEY=${key}`,
    `  ${invocation('generate', '"a lighthouse in a storm"', ...firstWish(settings.catalogue), ...address)}`,
  ];
}

function anotherKeyLines({ settings }: Service): readonly string[] {
  const isElsewhere = settings.dataFolder !== resolve('data');
  const environment = isElsewhere ? `VIDEOGEN_DATA=${settings.dataFolder} ` : '';
  return [
    '  Keys are shown only once. To make another one, in another terminal:',
    '',
    `  ${environment}${invocation('account', 'list')}`,
    `  ${environment}${invocation('key', 'create', '--account', 'ACCOUNT')}`,
  ];
}

/** Enough for sixty five-second videos of the fast model. */
const openingCredits = 10_000;

export type FirstKey = { readonly accountId: string; readonly key: string; readonly credits: number };

/** Opens the first account and answers its key, for the only time; undefined when there are accounts, or `signal` came first. */
export async function firstKeyOf(service: Service, signal: AbortSignal): Promise<FirstKey | undefined> {
  return onDatabase(service, signal, 'make the first key', makeFirstKey);
}

/** Where the first operator signs up, a new link at each start; undefined once somebody can, or when `signal` came first. */
function setupUrlOf(service: Service, signal: AbortSignal): Promise<string | undefined> {
  return onDatabase(service, signal, 'make the set-up link', async (db) => {
    const link = await createSetupLink(db);
    return link && addressOfLink(service.settings.publicUrl, link);
  });
}

/** What a start still has to ask the database; undefined when `signal` came first. */
async function onDatabase<T>(
  service: Service,
  signal: AbortSignal,
  step: string,
  work: (db: Database) => Promise<T>,
): Promise<T | undefined> {
  const { settings, log } = service;
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 1 });
  try {
    return await retry({ step, log, signal }, () => work(db));
  } catch (error) {
    if (signal.aborted) return undefined;
    await service.close();
    throw error;
  } finally {
    await db.close();
  }
}

/** Account and key are made together, so that a repeated call never finds an account whose key was never shown. */
function makeFirstKey(db: Database): Promise<FirstKey | undefined> {
  return db.transaction(async (run) => {
    const accountId = await createFirstAccount({ run }, { name: 'first account', credits: openingCredits });
    if (accountId === undefined) return undefined;
    const created = await createApiKey({ run }, { accountId, name: 'first key', scopes });
    return created && { accountId, key: created.key, credits: openingCredits };
  });
}
