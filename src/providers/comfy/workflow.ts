import { fillPlaceholders, usesPlaceholder } from '../../domain/placeholders.ts';
import { classifyPoll, type Poll, type Reply } from '../answers.ts';
import type {
  FrozenConfig,
  JobRequest,
  JsonObject,
  JsonValue,
  NotAccepted,
  RequestBody,
  PolledProviderDeps,
} from '../contract.ts';
import { fittingImages } from '../image-parts.ts';
import { taskValues } from '../task-values.ts';

// A workflow of ComfyUI as its editor exports it for the API: a map of nodes, with placeholders in their inputs. Its form is
// checked when the catalogue is read. Both kinds that run workflows fill it in here, and find the video among what it wrote.

/** `config.options.parameters`: size and frame rate. */
export type WorkflowProviderDeps = PolledProviderDeps & {
  /** The workflow of today's catalogue. It matters to the create alone, so it is not frozen with the job. */
  readonly workflow: () => JsonObject;
};

const [maxImageBytes, uploadTries] = [60_000_000, 3];

/** How one reference image is stored upstream. */
export type Upload = {
  readonly form: (jpeg: Buffer, number: number) => Promise<RequestBody>;
  readonly send: (body: RequestBody) => Promise<Reply>;
  /** How the graph refers to the stored file; undefined when the answer does not say it. */
  readonly reference: (body: JsonObject) => JsonValue | undefined;
};

/**
 * The graph for a task. Where the workflow uses them, the images are uploaded first; an upload makes no job, so one that fails is
 * repeated, and in the end nothing was accepted.
 */
export async function filledWorkflow(
  workflow: JsonObject,
  request: JobRequest,
  config: FrozenConfig,
  upload: Upload,
): Promise<{ readonly graph: JsonValue | undefined } | NotAccepted> {
  const references: JsonValue[] = [];
  const jpegs = usesPlaceholder(workflow, ['image', 'images']) ? await request.images() : [];
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

/** A video is told from a picture by the name of its file: nodes list both under `images`. */
export function isVideoFile(name: string): boolean {
  return /\.(?:mp4|webm|mov|mkv|avi|gif)$/i.test(name);
}
