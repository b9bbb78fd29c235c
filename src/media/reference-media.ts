import type { ReferenceMedia } from '../tasks/ports.ts';
import { mediaUrlsOf, type ModelInput, type TaskInput } from '../tasks/task-input.ts';
import { TaskError } from '../platform/errors.ts';
import { fetchReferenceImages, type ImageFetch } from './reference-image.ts';

export type MediaFetch = Pick<ImageFetch, 'folder' | 'signal'> & {
  readonly input: TaskInput;
  /** The bounds of the model; undefined for a model that was removed from the catalogue. */
  readonly bounds: ModelInput | undefined;
};

type FetchReferenceMedia = MediaFetch & Omit<Parameters<typeof fetchReferenceImages>[0], 'sources'>;

/** Fetches, checks and re-encodes all reference media of a task. Throws a `TaskError` for the first bad one. */
export async function fetchReferenceMedia({ input, ...request }: FetchReferenceMedia): Promise<ReferenceMedia> {
  const media = mediaUrlsOf(input);
  const sources = media.filter(({ kind }) => kind === 'image');
  if (sources.length < media.length)
    throw new TaskError('internal', 'Reference video and audio cannot be fetched yet.');
  const fetched = await fetchReferenceImages({ ...request, sources });
  const of = (name: string) => fetched.filter((_, index) => sources[index]?.field === name);
  const [firstFrame] = of('firstFrameUrl');
  const [lastFrame] = of('lastFrameUrl');
  return {
    images: of('imageUrls'),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
    videos: [],
    audios: [],
  };
}
