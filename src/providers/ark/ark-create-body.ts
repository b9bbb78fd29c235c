import type { JsonObject } from '../../platform/text/json.ts';
import { z } from 'zod';
import { isBlank } from '../../catalogue/input/url-schema-and-text-checks.ts';
import type { MediaLinks, PreparedMediaByRole } from '../../catalogue/media/media-by-role.ts';
import type { FrozenConfig, JobRequest, RequestBody } from '../provider-contract.ts';
import { urlContentParts, imageDataUrlsByRole } from '../requests/media-by-role-and-data-urls.ts';
import { optionsAsUpstreamFields } from '../../catalogue/providers/options-as-upstream-fields.ts';
import { jsonBody } from '../requests/request-bodies.ts';

/** Ark accepts 64 MB in all. */
const maxImageBytes = 60_000_000;

/** `parameters` of the catalogue entry are added to each create. What the client chose takes precedence over them. */
export async function arkJobBody(
  request: JobRequest,
  { upstreamModel, options }: Pick<FrozenConfig, 'upstreamModel' | 'options'>,
): Promise<RequestBody> {
  const { prompt, ratio, duration, resolution, generateAudio, seed, options: chosen } = request.input;
  const parameters = z.record(z.string(), z.json()).catch({}).parse(options['parameters']);
  return jsonBody({
    resolution: resolution === '2160p' ? '4k' : resolution,
    watermark: false,
    ...parameters,
    ...optionsAsUpstreamFields('ark', chosen),
    ...(seed !== undefined && { seed }),
    model: upstreamModel,
    content: [
      ...(isBlank(prompt) ? [] : [{ type: 'text', text: prompt }]),
      ...(await mediaContent(await request.media(), request.mediaLinks)),
    ],
    ratio,
    duration,
    generate_audio: generateAudio,
    safety_identifier: request.accountHash,
    // A job that waits in Ark's queue beyond the deadline is useless. Ark accepts one hour to three days.
    execution_expires_after: Math.min(259_200, Math.max(3600, Math.ceil(request.deadlineMs / 1000))),
  });
}

/** Images are in the request; Ark fetches video and audio, which it takes by address only. */
async function mediaContent(
  media: PreparedMediaByRole,
  { videos, audios }: MediaLinks,
): Promise<readonly JsonObject[]> {
  const { firstFrame, lastFrame, images } = await imageDataUrlsByRole(media, maxImageBytes);
  return [
    ...urlContentParts('image_url', firstFrame, { role: 'first_frame' }),
    ...urlContentParts('image_url', lastFrame, { role: 'last_frame' }),
    ...urlContentParts('image_url', images, { role: 'reference_image' }),
    ...urlContentParts('video_url', videos, { role: 'reference_video' }),
    ...urlContentParts('audio_url', audios, { role: 'reference_audio' }),
  ];
}
