// Replaces the content of a task that was deleted, on request or after its retention, in every copy of its record.

export const deletedPrompt = '(deleted)';

export const deletedMessage = 'The content of this task was deleted.';

type Content = { readonly prompt: string; readonly imageUrls: readonly string[] };
type Request<Model, Input> = { readonly model: Model; readonly input: Input };

/** A request without what it was about: what it cost can still be explained. */
export function withoutContent<Model, Input extends Content>({ model, input }: Request<Model, Input>) {
  return { model, input: { ...input, prompt: deletedPrompt, imageUrls: [] } };
}
