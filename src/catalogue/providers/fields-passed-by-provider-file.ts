import type { MediaByRole } from '../media/media-by-role.ts';
import type { FieldName } from '../input/task-input.ts';
import type { FieldsReadByTemplate } from './input-template-placeholders.ts';
import { compileExpression, ExpressionError } from './jsonata-expression.ts';
import type { ProviderFile } from './provider-file-schema.ts';

// The fields of the input that reach an upstream through the request by which a file creates jobs. A field counts as passed on when
// the request reads it, also where only a condition does.

type Path = readonly string[];

/** The data by which expressions read each field. */
const dataOfField = {
  prompt: [['input', 'prompt']],
  negativePrompt: [['input', 'negativePrompt']],
  resolution: [['input', 'resolution'], ['width'], ['height']],
  duration: [['input', 'duration']],
  ratio: [['input', 'ratio'], ['width'], ['height']],
  generateAudio: [['input', 'generateAudio']],
  imageUrls: [['images']],
  firstFrameUrl: [['firstFrame']],
  lastFrameUrl: [['lastFrame']],
  videoUrls: [['videos']],
  audioUrls: [['audios']],
  seed: [['input', 'seed']],
  options: [['input', 'options']],
} as const satisfies Record<FieldName, readonly Path[]>;

/** Reads the data of a file; one that is invalid passes on nothing. */
export function fieldsPassedByFile(data: unknown): FieldsReadByTemplate {
  const { create } = (data ?? {}) as { readonly create?: { readonly path?: unknown; readonly json?: unknown } | null };
  return passedByPaths([create?.path, create?.json].flatMap(pathsIn));
}

/** True if the request that creates a job has media of one of these roles. */
export function usesMedia(
  { create }: Pick<ProviderFile, 'create'>,
  roles: readonly (keyof MediaByRole<never>)[],
): boolean {
  return [create.path, create.json].some(({ paths }) => paths.some(([first]) => roles.some((role) => role === first)));
}

function pathsIn(text: unknown): readonly Path[] {
  if (typeof text !== 'string') return [];
  try {
    return compileExpression(text).paths;
  } catch (error) {
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}

function passedByPaths(paths: readonly Path[]): FieldsReadByTemplate {
  const all = Object.entries(dataOfField) as [FieldName, readonly Path[]][];
  const isRead = (data: Path) => paths.some((path) => begins(path, data) || begins(data, path));
  const fields = all.filter(([, data]) => data.some(isRead)).map(([field]) => field);
  const options = paths.filter((path) => begins(path, ['input', 'options'])).map(([, , name]) => name);
  // An expression reads the whole input, or all of its options, without a name.
  const isWhole = paths.some((path) => begins(['input', 'options'], path));
  return {
    fields: new Set(fields),
    options: isWhole ? 'all' : new Set(options.filter((name) => name !== undefined)),
  };
}

function begins(path: Path, start: Path): boolean {
  return start.every((name, index) => path[index] === name);
}
