export const deletedPrompt = '(deleted)';

export const deletedMessage = 'The content of this task was deleted.';

type Content = { readonly prompt: string; readonly imageUrls: readonly string[] };
type Request<Model, Input> = { readonly model: Model; readonly input: Input };

/** Model and parameters stay, so that the price can be explained. */
export function withoutContent<Model, Input extends Content>({ model, input }: Request<Model, Input>) {
  return { model, input: { ...input, prompt: deletedPrompt, imageUrls: [] } };
}
