import type { Command } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pTimeout from 'p-timeout';
import { type Config, readConfig, removeSettingsForDemo } from '../../config/config.ts';
import { addCommand } from '../add-command.ts';
import { addGenerationOptions, type GenerationOptions } from '../generate/generation-options-and-task-request.ts';
import { listenForInterruptions } from '../interruption.ts';
import { isJsonRequested, printAnswer } from '../command-output-and-errors.ts';
import { createProgressPrinter } from './progress-printer.ts';

const defaultPrompt = 'A paper boat on a rainy street';

export function addDemoCommand(program: Command): void {
  const command = addGenerationOptions(
    addCommand(program, 'demo', '', '"a red kite over the sea" --image kite.jpg --ratio 9:16'),
  )
    .description('run a demo: a paid video, a signed callback, and a failed task that is refunded')
    .argument('[prompt]', 'what the video shows', defaultPrompt);
  command.action((prompt: string, options: GenerationOptions) => runDemo(prompt, options, isJsonRequested(program)));
}

/** Runs on a temporary data folder. When interrupted, it stops its servers and deletes the folder; further signals do not prevent that. */
async function runDemo(prompt: string, options: GenerationOptions, asJson: boolean): Promise<void> {
  removeSettingsForDemo();
  const { signal } = listenForInterruptions(['SIGINT', 'SIGTERM', 'SIGHUP']);
  const story = createProgressPrinter(asJson);
  // A closed terminal accepts no output.
  process.stdout.on('error', () => {});
  signal.addEventListener('abort', () => story.warn('Interrupted: stopping the servers and deleting their files'));
  story.begin('Videogen demo');
  const dataFolder = await mkdtemp(join(tmpdir(), 'videogen-demo-'));
  const config: Config = { ...readConfig(), port: 0, dataFolder };
  try {
    story.step('Starting a temporary PostgreSQL, Temporal, API and workers');
    const { startService } = await import('../../embedded/start-service.ts');
    const service = await startService(config, (message) => story.info(message), signal);
    try {
      signal.throwIfAborted();
      story.success(`API ${service.settings.publicUrl}   Temporal UI ${service.settings.temporalUiUrl}`);
      // Loaded after the start of the servers, which would otherwise wait for it.
      const { runSuccessAndRefundDemo } = await import('./demo-story.ts');
      const shown = runSuccessAndRefundDemo(service.settings, { story, signal }, prompt, options);
      const result = await pTimeout(shown, { signal, milliseconds: Number.POSITIVE_INFINITY });
      printAnswer({ json: result, lines: [] }, asJson);
    } finally {
      await service.close();
    }
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
  signal.throwIfAborted();
  story.end('Everything above ran for real. To keep it running: npm start');
}
