import { fillPlaceholders, usesPlaceholder } from '../placeholders.ts';
import { classifyPoll, type Poll, type Reply } from '../answers.ts';
import type { FrozenConfig, JobRequest, JsonObject, JsonValue, NotAccepted, RequestBody } from '../contract.ts';
import { fittingImages } from '../image-parts.ts';
import type { PolledProviderDeps } from '../polled-provider.ts';
import { taskValues } from '../task-values.ts';

// A workflow of ComfyUI as its editor exports it for the API: a map of nodes, with placeholders in their inputs. Its form is
// checked when the catalogue is read. Both kinds that run workflows fill it in here, and find the video among what it wrote.

/** `config.options.parameters`: size and frame rate. */
export type WorkflowProviderDeps = PolledProviderDeps & {
  /** Returns the workflow of the catalogue in force. Only the create needs it, so it is not frozen with the job. */
  readonly workflow: () => JsonObject;
};

const [maxImageBytes, uploadTries] = [60_000_000, 3];

export type Upload = {
  readonly form: (jpeg: Buffer, number: number) => Promise<RequestBody>;
  readonly send: (body: RequestBody) => Promise<Reply>;
  /** Returns the graph's reference to the stored file; undefined when the answer has none. */
  readonly reference: (body: JsonObject) => JsonValue | undefined;
};

/** Fills the graph for a task. It uploads the images first if the workflow uses them; a failed upload is safe to retry. */
export async function filledWorkflow(
  workflow: JsonObject,
  request: JobRequest,
  config: FrozenConfig,
  upload: Upload,
): Promise<{ readonly graph: JsonValue | undefined } | NotAccepted> {
  const references: JsonValue[] = [];
  const jpegs = usesPlaceholder(workflow, ['image', 'images']) ? (await request.media()).images : [];
  for (const jpeg of await fittingImages(jpegs, maxImageBytes)) {
    const reference = await uploaded(await upload.form(jpeg, references.length + 1), upload);
    if ('notAccepted' in reference) return reference.notAccepted;
    references.push(reference.value);
  }
  return { graph: fillPlaceholders(workflow, await taskValues(request, config, references)) };
}

async function uploaded(
  form: RequestBody,
  { send, reference }: Upload,
): Promise<{ readonly value: JsonValue } | { readonly notAccepted: NotAccepted }> {
  let poll: Poll = { status: { state: 'missing' } };
  for (let tries = 0; tries < uploadTries && 'status' in poll; tries += 1) {
    poll = classifyPoll(await send(form), () => false);
  }
  const value = 'body' in poll ? reference(poll.body) : undefined;
  if (value !== undefined) return { value };
  const detail =
    'status' in poll && 'detail' in poll.status ? poll.status.detail : 'an upload was answered without a name';
  return { notAccepted: { kind: 'not_accepted', reason: 'unreachable', detail } };
}

/** Only the name distinguishes a video from a picture: nodes list both under `images`. */
export function isVideoFile(name: string): boolean {
  return /\.(?:mp4|webm|mov|mkv|avi|gif)$/i.test(name);
}
