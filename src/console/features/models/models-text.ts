// Names of the input fields of models and of their values. Fields that are newer than this code get a label made from their name.

const ratioWords: Readonly<Record<string, string>> = { adaptive: 'Auto' };

const fieldWords: Readonly<Record<string, string>> = {
  duration: 'Length',
  ratio: 'Aspect ratio',
  generateAudio: 'Sound',
  imageUrls: 'Reference images',
  videoUrls: 'Reference videos',
  audioUrls: 'Reference audio',
};

/** The label of a field of `input`: `cameraFixed` is "Camera fixed". */
export function fieldWord(name: string): string {
  const words = name.replace(/Urls?$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return fieldWords[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value of a field, other than a URL. */
export function valueWord(name: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'On' : 'Off';
  const text = String(value);
  return name === 'duration' ? `${text}\u00A0s` : (ratioWords[text] ?? text);
}

export const modelsText = {
  model: 'Model',
  lead: 'The available models, with their prices and inputs.',
  none: 'No models available',
  noneAdvice: 'No worker is available for any model right now. This page updates automatically.',
  notFoundTitle: 'Model not found',
  notFound: 'It doesn’t exist, or no worker is available for it right now.',
  seeAll: 'View all models',
  tryIt: 'Try it',
  sample: 'Sample',
  sampleOf: (title: string) => `Sample of ${title}`,
  noSample: 'No sample',
  madeByPreview: 'Rendered by the built-in preview. No AI model made this video.',
  from: 'from',
  prices: 'Prices',
  pricesCaption: (title: string) => `Prices of ${title}`,
  appliesTo: 'Applies to',
  now: 'Now',
  announced: 'Announced',
  notYet: 'not yet',
  fromTime: 'from',
  priceNote: 'The first row that matches a request applies. Tasks keep the price at which they were created.',
  limits: 'Input',
  lastFrame: 'Last frame',
  lastFrameStored: 'Stored with each video, as a JPEG',
  request: 'Request',
  copyName: 'Copy model name',

  required: 'required',
  adaptive: 'Auto uses the ratio closest to the first image.',
  standard: (value: string) => `default ${value}`,
  onOrOff: 'On or off',
  text: 'Text',
  number: 'A number',
  span: (least: string, most: string) => `${least} to ${most}`,
  characters: (max: string) => `Up to ${max} characters`,
  uploadsUpTo: (megabytes: number) => `uploads up to ${megabytes}\u00A0MB`,
  oneFile: { image: '1 image', video: '1 video', audio: '1 audio file' },
  files: {
    image: (min: number, max: number) => filesWord(min, max, 'image', 'images'),
    video: (min: number, max: number) => filesWord(min, max, 'video', 'videos'),
    audio: (min: number, max: number) => filesWord(min, max, 'audio file', 'audio files'),
  },
} as const;

function filesWord(min: number, max: number, one: string, many: string): string {
  const word = max === 1 ? one : many;
  if (min === 0) return `Up to ${max} ${word}`;
  return min === max ? `${max} ${word}` : `${min} to ${max} ${word}`;
}
