import { frameSize } from '../../media/frame-size.ts';
import { spellImageReferences } from '../task-values.ts';
import type { FrozenConfig, Job, JobRequest, JsonObject, JsonValue, LostCall, RequestBody } from '../contract.ts';
import { imageDataUrls } from '../image-parts.ts';
import type { ProviderFile } from './file-schema.ts';

// The data of expressions in requests. It excludes the addresses that a client gave for images.

type Frozen = { readonly file: ProviderFile; readonly config: FrozenConfig };

/**
 * The contents of images would exceed the bounds of expressions, so these pass on placeholders that no client can write, and
 * `jsonBody` replaces them.
 */
export type Contents = ReadonlyMap<string, string>;

export async function createData(
  request: JobRequest,
  frozen: Frozen,
): Promise<{ readonly data: JsonObject; readonly contents: Contents }> {
  const { accountHash, deadlineMs, input, jobKey } = request;
  const { images: files } = await request.media();
  const { widthPx: width, heightPx: height } = frameSize(input.resolution, input.ratio, files[0]);
  const isLink = frozen.file.images === 'link';
  const links = isLink ? request.mediaLinks.images : await imageDataUrls(files, frozen.file.maxImageBytes);
  const contents = new Map<string, string>();
  const images = links.map((url, index) => {
    if (isLink) return { url };
    const [whole, bare] = [`\0image ${index} url`, `\0image ${index} base64`];
    contents.set(whole, url).set(bare, url.slice(url.indexOf(',') + 1));
    return { url: whole, base64: bare };
  });
  const data = {
    ...common(input, frozen),
    jobKey,
    width,
    height,
    images,
    accountHash,
    deadlineSeconds: Math.ceil(deadlineMs / 1000),
  };
  return { data, contents };
}

export function jsonBody(value: JsonValue, contents: Contents): RequestBody {
  const text = JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'string' ? (contents.get(one) ?? one) : one,
  );
  return { contentType: 'application/json', bytes: text };
}

export function jobData({ id, handle, input, jobKey }: Job, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey, job: { id, handle } };
}

export function lostData({ input, intendedAt, jobKey }: LostCall, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey, intendedAt };
}

function common(input: JobRequest['input'], { file, config }: Frozen): JsonObject {
  const { imageUrls, prompt, ...rest } = input;
  const spelling = file.imageReference;
  const spelled = spelling === undefined ? prompt : spellImageReferences(prompt, imageUrls.length, spelling);
  return {
    model: config.upstreamModel,
    parameters: config.options['parameters'] ?? {},
    input: { ...rest, prompt: spelled },
    imageCount: imageUrls.length,
  };
}
