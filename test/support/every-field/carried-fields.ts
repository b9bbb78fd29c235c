import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { fieldsPassedByEntry } from '../../../src/catalogue/input/fields-sent-upstream.ts';
import { providerSchema } from '../../../src/catalogue/file/provider-schema.ts';
import { type FieldName, inputFieldNames } from '../../../src/catalogue/input/task-input.ts';
import type { FieldKind } from './field-kinds.ts';
import { everyField } from './every-field.ts';
import { workflow } from './expected-template-requests.ts';

/** The fields that the kind declares as passed on, in the order of the vocabulary. */
export function carriedBy(kind: Pick<FieldKind, 'settings' | 'upstreamModel' | 'parameters'>): readonly FieldName[] {
  const { settings, upstreamModel = 'upstream-model', parameters = {} } = kind;
  const { file } = settings;
  const files = new Map<string, { readonly data: unknown }>([['./workflow.json', { data: workflow }]]);
  if (typeof file === 'string') {
    const path = new URL(import.meta.resolve(`#assets/providers/${file.slice('builtin:'.length)}.yaml`));
    files.set(file, { data: parse(readFileSync(path, 'utf8')) as unknown });
  }
  const complete =
    settings['kind'] === 'preview'
      ? ({ kind: 'preview' } as const)
      : providerSchema.parse({ ...settings, baseUrl: 'http://upstream.example' });
  const passes = fieldsPassedByEntry({ upstreamModel, parameters }, complete, { files, canFetch: () => true });
  const options = Object.keys(everyField.options.bounds).map((name) => passes.has(`options.${name}`));
  assert.equal(new Set(options).size, 1, 'the kind passes on both options, or none');
  return inputFieldNames.filter((field) => (field === 'options' ? options[0] === true : passes.has(field)));
}
