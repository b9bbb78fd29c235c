import type { JsonObject, JsonValue } from '../../platform/text/json.ts';
import { frameSize } from '../../catalogue/media/frame-size.ts';
import type { MediaByRole, MediaRole } from '../../catalogue/media/media-by-role.ts';
import { isBlank } from '../../catalogue/input/url-schema-and-text-checks.ts';
import { spellImageReferences, inputWithoutMediaUrls } from '../requests/placeholder-values-and-template-media.ts';
import type { FrozenConfig, Job, JobRequest, LostCreateToRecover, Refused, RequestBody } from '../provider-contract.ts';
import {
  adaptiveRatioImage,
  mediaDataUrlsByRole,
  mediaOfRoles,
  refusedAsTooLarge,
} from '../requests/media-by-role-and-data-urls.ts';
import type { ProviderFile } from '../../catalogue/providers/provider-file-schema.ts';
import { usesMedia } from '../../catalogue/providers/fields-passed-by-provider-file.ts';

// The data of expressions in requests. It excludes the addresses that a client gave for media.

type Frozen = { readonly file: ProviderFile; readonly config: FrozenConfig };

/**
 * The contents of media would exceed the bounds of expressions, so these pass on placeholders that no client can write, and
 * `bodyWithContents` replaces them.
 */
export type ContentsByPlaceholder = ReadonlyMap<string, string>;

/** Returns the data of the create's expressions, or a refusal if the media are too large for a request. */
export async function dataForCreate(
  request: JobRequest,
  frozen: Frozen,
  uploaded?: MediaByRole<string>,
): Promise<{ readonly data: JsonObject; readonly contents: ContentsByPlaceholder } | Refused> {
  const { accountHash, deadlineMs, input, jobKey } = request;
  const leading = adaptiveRatioImage(await request.media());
  const { widthPx: width, heightPx: height } = frameSize(input.resolution, input.ratio, leading);
  const media = await mediaData(request, frozen.file, uploaded);
  if (media === undefined) return refusedAsTooLarge('reference media of this size');
  const data = {
    ...common(input, frozen),
    jobKey,
    width,
    height,
    ...media.data,
    accountHash,
    deadlineSeconds: Math.ceil(deadlineMs / 1000),
  };
  return { data, contents: media.contents };
}

async function mediaData(request: JobRequest, file: ProviderFile, uploaded: MediaByRole<string> | undefined) {
  // Only files that the request contains are read.
  const isInRequest = (role: MediaRole) => formOf(file, role) === 'data-url' && usesMedia(file, [role]);
  const urls = await mediaDataUrlsByRole(mediaOfRoles(await request.media(), isInRequest), file);
  if (urls === undefined) return undefined;
  const contents = new Map<string, string>();
  const listed = (role: MediaRole): readonly JsonObject[] => {
    const form = formOf(file, role);
    const from = { link: request.mediaLinks, upload: uploaded, 'data-url': urls }[form];
    return [from?.[role] ?? []].flat().map((text, index) => {
      if (form === 'link') return { url: text };
      if (form === 'upload') return { uploaded: text };
      const [url, base64] = [`\0${role} ${index} url`, `\0${role} ${index} base64`];
      contents.set(url, text).set(base64, text.slice(text.indexOf(',') + 1));
      return { url, base64 };
    });
  };
  const [firstFrame] = listed('firstFrame');
  const [lastFrame] = listed('lastFrame');
  const data = {
    images: listed('images'),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
    videos: listed('videos'),
    audios: listed('audios'),
  };
  return { data, contents };
}

function formOf({ images, clips }: ProviderFile, role: MediaRole): ProviderFile['images'] {
  return role === 'videos' || role === 'audios' ? clips : images;
}

/** A body in which the contents of media replace their placeholders. */
export function bodyWithContents(contents: ContentsByPlaceholder, value: JsonValue): RequestBody {
  const text = JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'string' ? (contents.get(one) ?? one) : one,
  );
  return { contentType: 'application/json', bytes: text };
}

export function dataForJob({ id, handle, input, jobKey }: Job, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey, job: { id, handle } };
}

/** The data before the job is created. */
export function dataForUpload({ input, jobKey }: JobRequest, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey };
}

export function dataForLostCreate({ input, intendedAt, jobKey }: LostCreateToRecover, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey, intendedAt };
}

function common(input: JobRequest['input'], { file, config }: Frozen): JsonObject {
  const { prompt } = input;
  const spelling = file.imageReference;
  const imageCount = input.imageUrls.length;
  const spelled = spelling === undefined ? prompt : spellImageReferences(prompt, imageCount, spelling);
  // Without a prompt, requests omit the field.
  const { prompt: _, ...fields } = inputWithoutMediaUrls(input);
  return {
    model: config.upstreamModel,
    parameters: config.options['parameters'] ?? {},
    input: isBlank(prompt) ? fields : { ...fields, prompt: spelled },
    imageCount,
    hasFirstFrame: input.firstFrameUrl !== undefined,
    hasLastFrame: input.lastFrameUrl !== undefined,
    videoCount: input.videoUrls?.length ?? 0,
    audioCount: input.audioUrls?.length ?? 0,
  };
}
