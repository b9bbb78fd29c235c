import type { JsonObject, JsonValue } from '../../platform/text/json.ts';
import { fillPlaceholders } from '../../catalogue/providers/input-template-placeholders.ts';
import { detailOfAnswerOrError, parsedBodyOrPollStatus, type AnswerOrError } from '../classify-upstream-answers.ts';
import type { FrozenConfig, JobRequest, NotAccepted, Refused } from '../provider-contract.ts';
import { type FileUploadOutcome, uploadMedia } from '../requests/upload-media.ts';
import type { PolledProviderDeps } from '../jobs/polled-provider.ts';
import type { FormFile } from '../requests/request-bodies.ts';
import { fetchMediaOfTemplate, taskPlaceholderValues } from '../requests/placeholder-values-and-template-media.ts';

// A workflow of ComfyUI as its editor exports it for the API: a map of nodes, with placeholders in their inputs. Its form is
// checked when the catalogue is read. Both kinds that run workflows fill it in here.

/** `config.options.parameters`: size and frame rate. */
export type WorkflowProviderDeps = PolledProviderDeps & {
  /** Returns the workflow of the catalogue in force. Only the create needs it, so it is not frozen with the job. */
  readonly workflow: () => JsonObject;
};

const limits = { maxImageBytes: 60_000_000, maxClipBytes: 60_000_000 };

export type WorkflowUploadDeps = {
  readonly send: (file: FormFile) => Promise<AnswerOrError>;
  /** Returns the graph's reference to the stored file; undefined when the answer has none. */
  readonly reference: (body: JsonObject) => JsonValue | undefined;
};

/** Fills the graph for a task. It uploads the media that the workflow uses first. */
export async function uploadAndFillWorkflow(
  workflow: JsonObject,
  request: JobRequest,
  config: FrozenConfig,
  uploading: WorkflowUploadDeps,
): Promise<{ readonly graph: JsonValue | undefined } | NotAccepted | Refused> {
  const { used, shape } = await fetchMediaOfTemplate(workflow, request);
  const media = await uploadMedia(used, limits, (file) => stored(file, uploading));
  if ('kind' in media) return media;
  return { graph: fillPlaceholders(workflow, taskPlaceholderValues(withTexts(request), config, shape, media)) };
}

/** Nodes for texts require one, so a task without a negative prompt has an empty one. */
function withTexts(request: JobRequest): JobRequest {
  const { negativePrompt = '' } = request.input;
  return { ...request, input: { ...request.input, negativePrompt } };
}

async function stored(file: FormFile, { send, reference }: WorkflowUploadDeps): Promise<FileUploadOutcome<JsonValue>> {
  const reply = await send(file);
  const answer = parsedBodyOrPollStatus(reply, reference);
  return 'read' in answer ? { stored: answer.read } : { kind: 'unknown', detail: detailOfAnswerOrError(reply) };
}

/** Only the name distinguishes a video from a picture: nodes list both under `images`. */
export function isVideoFileName(name: string): boolean {
  return /\.(?:mp4|webm|mov|mkv|avi|gif)$/i.test(name);
}
