import type { PreparedMediaByRole } from '../../catalogue/media/media-by-role.ts';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { mediaUrlsOf, type ModelInput, type TaskInput } from '../../catalogue/input/task-input.ts';
import { inputFields } from '../../catalogue/input/input-fields.ts';
import { type FetchSettings, invalidMediaError } from './fetch-media.ts';
import { lastFrameRefusal } from '../../catalogue/media/frame-size.ts';
import { fetchReferenceClips } from './fetch-reference-clips.ts';
import { fetchReferenceImages } from './fetch-reference-images.ts';

export type ReferenceMediaRequest = Pick<FetchSettings, 'folder' | 'signal'> & {
  readonly input: TaskInput;
  /** The bounds of the model; undefined for a model that was removed from the catalogue. */
  readonly bounds: ModelInput | undefined;
};

type FetchReferenceMedia = ReferenceMediaRequest & FetchSettings & { readonly ffmpeg: FfmpegRunner };

/** The limits of a model that was removed from the catalogue. */
const standardVideo = inputFields.videoUrls.bounds.parse({ max: 1 });
const standardAudio = inputFields.audioUrls.bounds.parse({ max: 1 });

/** Fetches, checks and re-encodes all reference media of a task. Throws a `TaskError` for the first invalid one. */
export async function fetchReferenceMedia({
  input,
  bounds,
  ffmpeg,
  ...settings
}: FetchReferenceMedia): Promise<PreparedMediaByRole> {
  const media = mediaUrlsOf(input);
  const sourcesOf = (kind: string) => media.filter((source) => source.kind === kind);
  const sources = sourcesOf('image');
  const fetched = await fetchReferenceImages({ ...settings, sources });
  const of = (name: string) => fetched.filter((_, index) => sources[index]?.field === name);
  const [firstFrame] = of('firstFrameUrl');
  const [lastFrame] = of('lastFrameUrl');
  const refusal = firstFrame && lastFrame && lastFrameRefusal(firstFrame, lastFrame);
  if (refusal !== undefined) throw invalidMediaError('image', { path: 'input.lastFrameUrl' }, refusal);
  const clips = { ...settings, ffmpeg };
  const { videoUrls = standardVideo, audioUrls = standardAudio } = bounds?.fields ?? {};
  return {
    images: of('imageUrls'),
    firstFrame,
    lastFrame,
    videos: await fetchReferenceClips({ ...clips, kind: 'video', limits: videoUrls, sources: sourcesOf('video') }),
    audios: await fetchReferenceClips({ ...clips, kind: 'audio', limits: audioUrls, sources: sourcesOf('audio') }),
  };
}
