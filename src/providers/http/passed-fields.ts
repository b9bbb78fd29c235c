import { fieldOf } from '../../models/catalogue/problems.ts';
import { type FieldName, inputFieldNames } from '../../tasks/task-input.ts';

// The fields of an input that the file of an `http` provider passes on.

const media: Readonly<Record<string, FieldName>> = {
  images: 'imageUrls',
  firstFrame: 'firstFrameUrl',
  lastFrame: 'lastFrameUrl',
  videos: 'videoUrls',
  audios: 'audioUrls',
};

/** The fields that expressions of the file mention, and single options as `options.NAME`. */
export function passedByFile(data: unknown): ReadonlySet<string> {
  // Examples and errors mention fields that no request contains.
  const texts = textsIn(fieldOf(data, 'create'));
  const passed = new Set<string>();
  for (const text of texts) {
    for (const [, option] of text.matchAll(/\binput\.options\b(?:\.(\w+))?/g))
      passed.add(option === undefined ? 'options' : `options.${option}`);
    for (const name of inputFieldNames)
      if (name !== 'options' && new RegExp(`\\binput\\.${name}\\b`).test(text)) passed.add(name);
    for (const [name, field] of Object.entries(media)) if (new RegExp(`\\b${name}\\b`).test(text)) passed.add(field);
    if (/\b(?:width|height)\b/.test(text)) passed.add('ratio').add('resolution');
  }
  return passed;
}

function textsIn(data: unknown): readonly string[] {
  if (typeof data === 'string') return [data];
  return typeof data === 'object' && data !== null ? Object.values(data).flatMap(textsIn) : [];
}
