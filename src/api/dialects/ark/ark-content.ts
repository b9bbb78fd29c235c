import { z } from 'zod';
import { findNearestName } from '../../../platform/text/did-you-mean.ts';
import { withSuggestion } from '../../../catalogue/input/spelling-suggestions.ts';
import { requiredOrInvalidMessage } from '../../core/request-fields.ts';
import { readTextCommands } from '../../../catalogue/models/text-commands.ts';
import type { FieldError } from '../../../platform/text/field-errors.ts';

// `content` of a create request: the words, which may contain options, and the reference media.

/**
 * The roles of each type of media, with the field of ours that each fills. As
 * at Ark, the first role is the default, except for several images.
 */
const roleFields = {
  image_url: { first_frame: 'firstFrameUrl', last_frame: 'lastFrameUrl', reference_image: 'imageUrls' },
  video_url: { reference_video: 'videoUrls' },
  audio_url: { reference_audio: 'audioUrls' },
} as const;
type MediaType = keyof typeof roleFields;
type FieldsOf<Roles> = Roles[keyof Roles];
/** The fields of ours that `content` fills. */
export type FieldFromArkContent = 'prompt' | { [Type in MediaType]: FieldsOf<(typeof roleFields)[Type]> }[MediaType];
const types = ['text', 'image_url', 'video_url', 'audio_url'] as const;

const typeError = 'must be text or a kind of URL: text, image_url, video_url or audio_url';
const link = z
  .union([z.string(), z.strictObject({ url: z.string({ error: requiredOrInvalidMessage('must be a URL') }) })], {
    error: 'must be like {"url": "https://…"}',
  })
  .nullish();
const partSchema = z.strictObject(
  {
    type: z
      .enum(types, {
        error: ({ input }) =>
          withSuggestion(typeError, typeof input === 'string' ? findNearestName(input, types) : undefined),
      })
      .optional()
      .meta({ description: 'May be left out beside a single one of the fields of its names.' }),
    text: z.string({ error: 'must be a string' }).nullish(),
    image_url: link,
    video_url: link,
    audio_url: link,
    role: z.string({ error: 'must be a string' }).nullish(),
  },
  {
    error: (issue) =>
      issue.code === 'invalid_type'
        ? 'must be like {"type": "image_url", "image_url": {"url": "https://…"}}'
        : undefined,
  },
);
type Part = z.output<typeof partSchema>;

/** Words alone may be sent as a string, as to chat APIs. */
export const arkContentSchema = z.preprocess(
  (value) => {
    if (typeof value !== 'string' && !Array.isArray(value)) return value;
    return [value].flat().map((part: unknown) => (typeof part === 'string' ? { type: 'text', text: part } : part));
  },
  z.array(partSchema).max(50, { error: 'must have at most 50 items' }),
);

/** `paths` are the client's paths of the media, by our names. */
export function readArkContent(parts: z.output<typeof arkContentSchema>) {
  const media: Record<string, string | string[]> = {};
  const paths: Record<string, string> = {};
  const errors: FieldError[] = [];
  const images = parts.filter((part) => typeOf(part) === 'image_url').length;
  for (const [index, part] of parts.entries()) {
    const [type, at] = [typeOf(part), `content[${index}]`];
    if (type === undefined) errors.push({ path: `${at}.type`, message: 'is required' });
    if (type === 'text' && typeof part.text !== 'string') errors.push({ path: `${at}.text`, message: 'is required' });
    if (type === undefined || type === 'text') continue;
    const address = part[type] ?? undefined;
    const { field, allowed } = fieldOf(type, part.role, images);
    const isSecond = field?.endsWith('Url') === true && Object.hasOwn(media, field);
    if (address === undefined) errors.push({ path: `${at}.${type}`, message: 'is required' });
    else if (field === undefined || isSecond)
      errors.push({ path: `${at}.role`, message: `must be ${allowed}, and each frame given once` });
    else {
      const path = typeof address === 'string' ? `${at}.${type}` : `${at}.${type}.url`;
      const url = typeof address === 'string' ? address : address.url;
      const before = media[field] ?? [];
      media[field] = field.endsWith('Url') ? url : [...before, url];
      paths[field.endsWith('Url') ? `input.${field}` : `input.${field}[${before.length}]`] = path;
    }
  }
  const text = parts.flatMap((part) => (typeOf(part) === 'text' ? (part.text ?? []) : []));
  return { ...readText(text.join('\n')), media, paths, errors };
}

/** Without a type, the one field that a part has names it. */
function typeOf({ type, ...part }: Part): Part['type'] {
  const [only, ...others] = types.filter((name) => part[name] !== undefined && part[name] !== null);
  return type ?? (others.length === 0 ? only : undefined);
}

function fieldOf(type: MediaType, given: Part['role'], images: number) {
  const roles: readonly (readonly [string, string])[] = Object.entries(roleFields[type]);
  const isDefault = !given && (type !== 'image_url' || images === 1);
  const [, field] = (isDefault ? roles[0] : roles.find(([role]) => role === given)) ?? [];
  return { field, allowed: roles.map(([role]) => role).join(', ') };
}

/** Separates the commands in the text from the prompt, as options. */
function readText(words: string) {
  const { prompt, fields } = readTextCommands(words);
  return { prompt, options: new Map([...fields].map(([name, value]) => [name, scalarOf(value)])) };
}

function scalarOf(value: string): unknown {
  return /^(?:true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d+)?)$/.test(value) ? JSON.parse(value) : value;
}
