import type { CorpusFile } from './corpus-table.ts';

// The forms of reference media that each vendor documents, and the most megabytes (of 1,000,000 bytes) of one file. A role that is
// missing is not passed on. Sizes without a documented limit are those that the provider file or the adapter sets.

type Documented = { readonly formats: readonly string[]; readonly maxMegabytes: number };
type Documents = Readonly<Partial<Record<CorpusFile['kind'], Documented>>>;

export const typeOfFormat: Readonly<Record<string, string>> = {
  'a JPEG image': 'image/jpeg',
  'an MP4 file': 'video/mp4',
  'an MP3 file': 'audio/mpeg',
};

const common = ['a JPEG image', 'a PNG image', 'a WebP image'];
const films = ['an MP4 file', 'a QuickTime video'];
const sounds = ['an MP3 file', 'a WAV file'];
const image = (maxMegabytes: number): Documents => ({ image: { formats: common, maxMegabytes } });

/** Seedance 2.0, also at those who resell it (docs.oxen.ai, docs.evolink.ai: seedance-2.0-reference-to-video). */
const seedance: Documents = {
  image: { formats: common, maxMegabytes: 30 },
  video: { formats: films, maxMegabytes: 50 },
  audio: { formats: sounds, maxMegabytes: 15 },
};
/** Servers of the operator's own read what ffmpeg reads. */
const ownServer: Documents = {
  image: { formats: common, maxMegabytes: 30 },
  video: { formats: films, maxMegabytes: 100 },
  audio: { formats: sounds, maxMegabytes: 30 },
};

export const documentedMedia: Readonly<Record<string, Documents>> = {
  own: ownServer,
  vllm: image(30),
  comfyui: ownServer,
  'comfy-v2': ownServer,
  ark: seedance,
  'fal-seedance': seedance,
  kie: seedance,
  'replicate-seedance': seedance,
  openrouter: seedance,
  // platform.minimax.io: video-generation-i2v.
  minimax: image(20),
  // app.klingai.com: image2video, with JPEG and PNG only.
  kling: { image: { formats: ['a JPEG image', 'a PNG image'], maxMegabytes: 10 } },
  // docs.dev.runwayml.com: assets/inputs; 5 MB of a data URL.
  runway: image(5),
  // alibabacloud.com: image-to-video-general-api-reference.
  wan: {
    image: { formats: [...common, 'a BMP image'], maxMegabytes: 20 },
    video: { formats: films, maxMegabytes: 100 },
    audio: { formats: sounds, maxMegabytes: 15 },
  },
  luma: image(40),
  vidu: image(15),
  pixverse: image(20),
  xai: image(20),
  // ai.google.dev: image/jpeg and image/png.
  veo: { image: { formats: ['a JPEG image', 'a PNG image'], maxMegabytes: 20 } },
};
