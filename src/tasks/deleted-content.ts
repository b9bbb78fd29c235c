export const deletedPrompt = '(deleted)';

export const deletedMessage = 'The content of this task was deleted.';

type Content = { readonly prompt: string; readonly imageUrls: readonly string[] };
type Request<Model, Input> = { readonly model: Model; readonly input: Input };

/** Other fields that contain text or addresses of the client. */
const optionalContent = ['negativePrompt', 'firstFrameUrl', 'lastFrameUrl', 'videoUrls', 'audioUrls', 'options'];

/** Model and parameters stay; the name of the price explains the charge. */
export function withoutContent<Model, Input extends Content>({ model, input }: Request<Model, Input>) {
  const remaining = Object.fromEntries(Object.entries(input).filter(([name]) => !optionalContent.includes(name)));
  return { model, input: { ...remaining, prompt: deletedPrompt, imageUrls: [] } };
}
