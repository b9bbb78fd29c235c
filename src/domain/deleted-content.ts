// What stands in the place of what was deleted on request. Every reader of a task's record reads these words.

export const deletedPrompt = '(deleted on request)';

export const deletedMessage = 'The content of this task was deleted on request.';

type Content = { readonly prompt: string; readonly imageUrls: readonly string[] };
type Request<Model, Input> = { readonly model: Model; readonly input: Input };

/** A request without what it was about: what it cost can still be explained. */
export function withoutContent<Model, Input extends Content>({ model, input }: Request<Model, Input>) {
  return { model, input: { ...input, prompt: deletedPrompt, imageUrls: [] } };
}
