import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import type { Service } from '../embedded/service.ts';
import { runUntilSignal, signalled } from '../roles/run-until-signal.ts';
import { printAnswer } from './output.ts';
import { type FirstKey, startAnswer } from './start-banner.ts';

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description(
      'run the whole service, with a PostgreSQL and a Temporal of its own unless the environment names others',
    )
    .action(async () => {
      const asJson = program.opts<{ json?: boolean }>().json === true;
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
      printAnswer(startAnswer(service, firstKey), asJson);
      await runUntilSignal(service, service.fatal, service.log, { signal, delayMs: service.settings.shutdownDelayMs });
    });
}

/** Undefined when there are accounts already, or when the start was broken off before the database answered. */
async function firstKeyOf(service: Service, signal: AbortSignal): Promise<FirstKey | undefined> {
  const { firstCredits, makeFirstKey } = await import('../embedded/first-key.ts');
  const { createDatabase } = await import('../stores/database.ts');
  const { retry } = await import('../roles/retry.ts');
  const { settings, log } = service;
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 1 });
  try {
    const made = await retry({ step: 'make the first key', log, signal }, () => makeFirstKey(db));
    return made && { ...made, credits: firstCredits };
  } catch (error) {
    if (signal.aborted) return undefined;
    await service.close();
    throw error;
  } finally {
    await db.close();
  }
}
