import type { Command } from 'commander';
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
    .option('--duration <seconds>', '4 to 15', Number)
    .option('--no-audio', 'a silent video')
    .option('--model <model>', 'which model generates', 'videogen-2.0-fast');
}

/** The body of createTask. Local images are served on loopback for as long as `work` takes. */
export async function withRequestBody<T>(
  prompt: string,
  { image, ratio, duration, audio, model }: GenerationOptions,
  work: (body: { model: string; input: Record<string, unknown> }) => Promise<T>,
): Promise<T> {
  const servers: FileServer[] = [];
  try {
    const imageUrls: string[] = [];
    for (const one of image) {
      if (!isUrl(one)) servers.push(await serveFile(one));
      imageUrls.push(isUrl(one) ? one : (servers.at(-1)?.url ?? ''));
    }
    return await work({ model, input: { prompt, ratio, duration, generateAudio: audio, imageUrls } });
  } finally {
    for (const server of servers) await server.close();
  }
}

function collect(image: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, image];
}
