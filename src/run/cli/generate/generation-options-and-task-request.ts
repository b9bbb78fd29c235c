import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TaskRequest } from '../../../../clients/typescript/src/index.ts';
import type { Catalogue } from '../../../catalogue/file/catalogue-schema-and-types.ts';
import type { FieldSetting } from './parse-and-describe-model-fields.ts';
import { isUrl, type LocalServer, serveFile } from './serve-media-and-save-video.ts';

/** The options of `demo` and `generate`; the service validates their values. `declaredOptionsSchema` declares those of input fields. */
export type GenerationOptions = {
  readonly image: readonly string[];
  readonly model?: string;
  [option: string]: unknown;
};

/** Short forms of the fields that most models have. */
const inputOptions = [
  { name: 'resolution', option: new Option('--resolution <resolution>', 'such as 720p') },
  { name: 'duration', option: new Option('--duration <seconds>', 'such as 5').argParser(number) },
  { name: 'ratio', option: new Option('--ratio <ratio>', 'such as 16:9') },
  { name: 'generateAudio', option: new Option('--no-audio', 'a silent video') },
] as const;

export function addGenerationOptions(command: Command): Command {
  command.option('--image <file-or-url>', 'reference image; may be repeated', collectOption, []);
  for (const { option } of inputOptions) command.addOption(option);
  return command.option('--model <model>', `model; by default ${defaultModel}, else the first one offered`);
}

const defaultModel = 'videogen-2.0-fast';

/** Returns the model of a request that names none. An installation may offer other models than the built-in ones. */
export function defaultModelOf(offered: readonly string[]): string {
  return offered.includes(defaultModel) ? defaultModel : (offered[0] ?? defaultModel);
}

/** Returns options with which `generate` requests a video that the catalogue offers. */
export function sampleGenerateOptionsOf({ models }: Pick<Catalogue, 'models'>): readonly string[] {
  const model = defaultModelOf([...models.keys()]);
  const tiers = models.get(model)?.tiers ?? [];
  const [first = 4, ...others] = tiers[0]?.[0]?.rules.durations ?? [];
  const duration = others.includes(4) ? 4 : first;
  return ['--duration', String(duration), ...(model === defaultModel ? [] : ['--model', model])];
}

/** Builds the body of createTask. Local files are served on loopback until `work` ends. */
export async function withBuiltTaskRequest<T>(
  prompt: string,
  { image, model = defaultModel, ...options }: GenerationOptions,
  work: (body: TaskRequest) => Promise<T>,
  settings: readonly FieldSetting[] = [],
): Promise<T> {
  const servers: LocalServer[] = [];
  const addressOf = async (fileOrUrl: string) => {
    if (isUrl(fileOrUrl)) return fileOrUrl;
    const server = await serveFile(fileOrUrl);
    servers.push(server);
    return server.url;
  };
  try {
    // `--no-audio` is true by default, which must not override the default of a silent model.
    const chosen = inputOptions.map(({ name, option }) => {
      const value = options[option.attributeName()];
      return [name, option.negate && value === true ? undefined : value] as const;
    });
    const input: Record<string, unknown> = { prompt, ...Object.fromEntries(chosen) };
    const images = image.map((value) => ({ name: 'imageUrls', value, isList: true, isMedia: true, isOption: false }));
    for (const { name, value, isList, isMedia, isOption } of [...images, ...settings]) {
      const given = isMedia ? await addressOf(String(value)) : value;
      if (isOption) input['options'] = { ...(input['options'] as object | undefined), [name]: given };
      else input[name] = isList ? [...((input[name] as unknown[] | undefined) ?? []), given] : given;
    }
    // The service validates the values.
    return await work({ model, input: input as TaskRequest['input'] });
  } finally {
    for (const server of servers) await server.close();
  }
}

/** A typing error such as `8s` must not silently mean the default. */
function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

export function collectOption(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
