import { z } from 'zod';
import { required } from '../../http/fields.ts';
import { readTextCommands } from '../../models/text-commands.ts';
import type { FieldError } from '../../platform/field-errors.ts';

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
export const mediaRoles = Object.values(roleFields).flatMap(Object.entries<string>);

const link = z.strictObject({ url: z.string({ error: required('must be a URL') }) }).optional();
const partSchema = z.strictObject({
  type: z.enum(['text', 'image_url', 'video_url', 'audio_url'], { error: 'must be text or a kind of URL' }),
  text: z.string({ error: 'must be a string' }).optional(),
  image_url: link,
  video_url: link,
  audio_url: link,
  role: z.string({ error: 'must be a string' }).nullish(),
});
export const contentSchema = z
  .array(partSchema, { error: required('must be an array') })
  .max(50, { error: 'must hold at most 50 items' });

export function readContent(parts: z.output<typeof contentSchema>) {
  const media: Record<string, string | string[]> = {};
  const errors: FieldError[] = [];
  const images = parts.filter(({ type }) => type === 'image_url').length;
  for (const [index, { type, role: given, ...part }] of parts.entries()) {
    if (type === 'text') continue;
    const value = part[type]?.url;
    const roles = Object.entries(roleFields[type]);
    const isDefault = !given && (type !== 'image_url' || images === 1);
    const [, field] = (isDefault ? roles[0] : roles.find(([role]) => role === given)) ?? [];
    const isSecond = given?.endsWith('_frame') === true && field !== undefined && Object.hasOwn(media, field);
    const names = roles.map(([role]) => role).join(', ');
    if (value === undefined) errors.push({ path: `content[${index}].${type}`, message: 'is required' });
    else if (field !== undefined && !isSecond)
      media[field] = field.endsWith('Url') ? value : [...(media[field] ?? []), value];
    else errors.push({ path: `content[${index}].role`, message: `must be ${names}, and each frame given once` });
  }
  return { ...readText(parts.flatMap(({ text = [] }) => text).join('\n')), media, errors };
}

/** Separates the commands in the text from the prompt, as options. */
function readText(words: string) {
  const { prompt, fields } = readTextCommands(words);
  return { prompt, options: new Map([...fields].map(([name, value]) => [name, scalarOf(value)])) };
}

function scalarOf(value: string): unknown {
  return /^(?:true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d+)?)$/.test(value) ? JSON.parse(value) : value;
}
