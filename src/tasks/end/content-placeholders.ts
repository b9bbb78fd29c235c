import type { FieldName, TaskParam } from '../../catalogue/input/task-input.ts';

export const deletedPrompt = '(deleted)';

export const deletedMessage = 'The content of this task was deleted.';

/** The fields that remain. All others, also those of later releases, may contain texts or addresses of the client. */
const parameters: readonly string[] = [
  'resolution',
  'duration',
  'ratio',
  'generateAudio',
  'seed',
] satisfies FieldName[];

/** Model and parameters stay; the name of the price explains the charge. */
export function withoutContent({
  model,
  requestedModel,
  input,
}: Pick<TaskParam, 'model' | 'requestedModel' | 'input'>) {
  const remaining = Object.fromEntries(Object.entries(input).filter(([name]) => parameters.includes(name)));
  return {
    model,
    ...(requestedModel !== undefined && { requestedModel }),
    input: { ...remaining, prompt: deletedPrompt, imageUrls: [] },
  };
}
