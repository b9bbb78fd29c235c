import { type Command, InvalidArgumentError } from 'commander';
import type { TaskRequest } from '../../clients/typescript/src/index.ts';
import { isUrl, serveFile, type FileServer } from './file-server.ts';

/** What `demo` and `generate` let a person choose; the service checks it. */
export type GenerationOptions = {
  readonly image: readonly string[];
  readonly ratio?: string;
  readonly duration?: number;
  readonly audio: boolean;
  readonly model: string;
};

export function addGenerationOptions(command: Command): Command {
  return command
    .option('--image <file-or-url>', 'a reference image; repeat it for more', collect, [])
    .option('--ratio <ratio>', 'adaptive, 16:9, 9:16, 1:1, 4:3, 3:4 or 21:9')
    .option('--duration <seconds>', '4 to 15', seconds)
    .option('--no-audio', 'a silent video')
    .option('--model <model>', 'which model generates', 'videogen-2.0-fast');
}

/** The body of createTask. Local images are served on loopback for as long as `work` takes. */
export async function withRequestBody<T>(
  prompt: string,
  { image, ratio, duration, audio, model }: GenerationOptions,
  work: (body: TaskRequest) => Promise<T>,
): Promise<T> {
  const servers: FileServer[] = [];
  try {
    const imageUrls: string[] = [];
    for (const one of image) {
      if (!isUrl(one)) servers.push(await serveFile(one));
      imageUrls.push(isUrl(one) ? one : (servers.at(-1)?.url ?? ''));
    }
    // The ratio is whatever was typed: the service says which there are.
    const input = { prompt, ratio, duration, generateAudio: audio, imageUrls } as TaskRequest['input'];
    return await work({ model, input });
  } finally {
    for (const server of servers) await server.close();
  }
}

/** Commander's parser: a slip such as `8s` must not silently mean the default length. */
function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number of seconds.');
  return value;
}

function collect(image: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, image];
}
