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
      const { startService } = await import('../embedded/service.ts');
      const service = await startService(readConfig(), say);
      const firstKey = await firstKeyOf(service);
      printAnswer(startAnswer(service, firstKey), asJson);
      await runUntilSignal(service, service.fatal, service.log, signal);
    });
}

async function firstKeyOf({ settings }: Service): Promise<FirstKey | undefined> {
  const { firstCredits, makeFirstKey } = await import('../embedded/first-key.ts');
  const { createDatabase } = await import('../stores/database.ts');
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 1 });
  try {
    const made = await makeFirstKey(db);
    return made && { ...made, credits: firstCredits };
  } finally {
    await db.close();
  }
}
