import type { Command } from 'commander';
import { resolve } from 'node:path';
import { type Client, createClient } from '../../clients/typescript/src/index.ts';
import { readConfig } from '../config.ts';
import { addGenerationOptions, type GenerationOptions, withRequestBody } from './generation-options.ts';
import { CommandError, printAnswer } from './output.ts';
import { saveVideo } from './save-video.ts';
import { taskProgressBar } from './task-progress-bar.ts';

type GenerateOptions = GenerationOptions & { readonly baseUrl?: string; readonly key?: string; readonly out?: string };

export function addGenerateCommand(program: Command): void {
  addGenerationOptions(program.command('generate'))
    .description('make a video through the API of a running service, like any other client')
    .argument('<prompt>', 'what the video shows')
    .option('--base-url <url>', 'address of the service')
    .option('--key <key>', 'API key; by default VIDEOGEN_API_KEY')
    .option('--out <file>', 'where to put the video; by default <task id>.mp4')
    .action(async (prompt: string, options: GenerateOptions) => {
      await generate(prompt, options, program.opts<{ json?: boolean }>().json === true);
    });
}

async function generate(prompt: string, options: GenerateOptions, asJson: boolean): Promise<void> {
  const config = readConfig();
  const key = options.key ?? config.apiKey;
  if (key === undefined) throw new CommandError('Give a key with --key or VIDEOGEN_API_KEY.');
  const baseUrl = options.baseUrl ?? config.publicUrl ?? `http://${config.host}:${config.port}`;
  const client = clientOf(baseUrl, key);
  const bar = asJson ? undefined : taskProgressBar();
  const record = await withRequestBody(prompt, options, async (body) => {
    const { taskId } = await client.createTask(body);
    return client.waitForTask(taskId, { onRecord: (shown) => bar?.show(shown) });
  });
  if (record.state === 'fail') {
    bar?.done(`failed, ${record.creditsRefunded} credits refunded`);
    throw new CommandError(`${record.failCode}: ${record.failMsg}`);
  }
  const file = resolve(options.out ?? `${record.taskId}.mp4`);
  await saveVideo(client, record.taskId, file);
  bar?.done(`done, ${record.creditsCharged} credits`);
  printAnswer({ json: { ...record, file }, lines: [file] }, asJson);
}

/** A slip in the address or the key is the person's at the keyboard, not a fault of ours. */
function clientOf(baseUrl: string, key: string): Client {
  try {
    return createClient({ baseUrl, key });
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}
