import { intro, log, outro } from '@clack/prompts';
import type { Command } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { signalled } from '../roles/run-until-signal.ts';
import { addGenerationOptions, type GenerationOptions } from './generation-options.ts';
import { CommandError } from './output.ts';

const defaultPrompt = 'A paper boat on a rainy street';

export function addDemoCommand(program: Command): void {
  addGenerationOptions(program.command('demo'))
    .description('see everything work: a paid video, a signed callback, and a failed task that is refunded')
    .argument('[prompt]', 'what the video shows', defaultPrompt)
    .action(runDemo);
}

/** The whole path on a temporary data folder. Throws, and so exits with 1, unless every promise was kept. */
async function runDemo(prompt: string, options: GenerationOptions): Promise<void> {
  intro('Videogen demo');
  const dataFolder = await mkdtemp(join(tmpdir(), 'videogen-demo-'));
  // Whenever it is broken off, its servers and files go with it.
  const interruption = signalled().then((): never => {
    throw new CommandError('The demo was broken off.');
  });
  interruption.catch(() => {});
  const config: Config = { ...readConfig(), databaseUrl: undefined, temporal: undefined, port: 0, dataFolder };
  try {
    log.step('Starting PostgreSQL, Temporal, the API and the workers');
    const { startService } = await import('../embedded/service.ts');
    const service = await startService(config, (message) => log.info(message));
    // Loaded only now, or the servers would have to wait for it.
    const { createDatabase } = await import('../stores/database.ts');
    const db = createDatabase({ url: service.settings.databaseUrl, poolSize: 2 });
    try {
      log.success(`API ${service.settings.publicUrl}   Temporal UI ${service.temporalUiUrl}`);
      const { showBothEndings } = await import('./demo-story.ts');
      await Promise.race([showBothEndings(db, service.settings, prompt, options), interruption]);
    } finally {
      await db.close();
      await service.close();
    }
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
  outro('All of this was true. Start it for good with: npm start');
}
