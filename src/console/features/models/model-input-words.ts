import { maxUploadMegabytes, type UploadKind } from '../../../media/references/upload-limits-and-addresses.ts';
import type { Model } from '../../api/contract.ts';
import { formatNumber } from '../../ui/number-formats.tsx';
import { boundsOf, isObject, mediaKindOf } from './field-schema-helpers.ts';
import { fieldWord, modelsText, valueWord } from './models-text.ts';

// Words for the input of a model, made from its JSON Schema. A field that is newer than this code is described as well.

/** `hint`: the service's own description of the field. */
export type InputFieldDescription = {
  readonly name: string;
  readonly value: string;
  readonly hint: string | undefined;
};

export function describeInputFields({ inputSchema }: Model): readonly InputFieldDescription[] {
  return limitsBelow(inputSchema);
}

type Schema = Readonly<Record<string, unknown>>;

function limitsBelow(holder: Schema): readonly InputFieldDescription[] {
  const required = listOf(holder['required']);
  const properties = isObject(holder['properties']) ? holder['properties'] : {};
  return Object.entries(properties).flatMap(([name, schema]): readonly InputFieldDescription[] => {
    if (!isObject(schema)) return [];
    if (isObject(schema['properties'])) return limitsBelow(schema);
    const value = valueOf(name, schema);
    if (value === undefined) return [];
    const parts = [value, ...(required.includes(name) ? [modelsText.required] : []), ...standardOf(name, schema)];
    return [{ name: fieldWord(name), value: parts.join(', '), hint: hintOf(name, schema) }];
  });
}

/** The service's own description, unless it repeats the words beside it. */
function hintOf(name: string, { description, enum: values }: Schema): string | undefined {
  if (name === 'ratio') return listOf(values).includes('adaptive') ? modelsText.adaptive : undefined;
  if (['duration', 'resolution', 'generateAudio'].includes(name)) return undefined;
  return typeof description === 'string' ? description : undefined;
}

/** Undefined for a field that takes nothing. */
function valueOf(name: string, schema: Schema): string | undefined {
  const media = mediaKindOf(schema);
  if (media !== undefined) return mediaWords(media, schema);
  const values = listOf(schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]));
  if (values.length > 0) return values.map((value) => valueWord(name, value)).join(', ');
  if (schema['type'] === 'boolean') return modelsText.onOrOff;
  if (schema['type'] === 'number' || schema['type'] === 'integer') return spanOf(name, schema);
  const { maxLength } = schema;
  return typeof maxLength === 'number' ? modelsText.characters(formatNumber(maxLength)) : modelsText.text;
}

function spanOf(name: string, schema: Schema): string {
  const { min, max } = boundsOf(schema);
  if (min === undefined || max === undefined) return modelsText.number;
  const words = min === max ? formatNumber(min) : modelsText.span(formatNumber(min), formatNumber(max));
  return name === 'duration' ? `${words}\u00A0s` : words;
}

function mediaWords(media: UploadKind, { type, minItems, maxItems }: Schema): string | undefined {
  const [min, max] = type === 'array' ? [Number(minItems ?? 0), Number(maxItems ?? 1)] : [1, 1];
  if (max === 0) return undefined;
  const count = type === 'array' ? modelsText.files[media](min, max) : modelsText.oneFile[media];
  return `${count}, ${modelsText.uploadsUpTo(maxUploadMegabytes[media])}`;
}

function standardOf(name: string, { default: standard, enum: values }: Schema): readonly string[] {
  const isOnly = Array.isArray(values) && values.length === 1;
  return standard === undefined || isOnly
    ? []
    : [
        modelsText.standard(
          typeof standard === 'string' ? valueWord(name, standard) : valueWord(name, standard).toLowerCase(),
        ),
      ];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
