import { z } from 'zod';
import {
  defaultOf,
  fieldsOfModel,
  type FieldName,
  inputFieldNames,
  type ModelInput,
  fieldsRequiredWith,
} from './task-input.ts';
import { inputFields } from './input-fields.ts';

// The declaration of a model's input: the fields that it takes, and how they depend on each other.

const named = z.enum(inputFieldNames as [FieldName, ...FieldName[]]);

/** Fields that every record shows, so a model must declare their values. */
const declaredByAll = ['resolution', 'duration', 'ratio', 'generateAudio'] as const;

const shape = Object.fromEntries(inputFieldNames.map((name) => [name, inputFields[name].bounds.optional()])) as {
  [Name in FieldName]: z.ZodOptional<(typeof inputFields)[Name]['bounds']>;
};

export const modelInputDeclarationSchema = z
  .strictObject({
    ...shape,
    prompt: inputFields.prompt.bounds.prefault({}),
    imageUrls: inputFields.imageUrls.bounds.prefault({ max: 0 }),
    exclusive: z
      .array(z.array(named).min(2))
      .max(20)
      .default([])
      .meta({ description: 'A request may have at most one field of each list.' }),
  })
  .superRefine((input, context) => {
    for (const name of declaredByAll.filter((one) => input[one] === undefined))
      context.addIssue({ code: 'custom', path: [name], message: 'is required in input' });
  })
  .transform(({ exclusive, ...fields }): ModelInput => ({ fields: fields as ModelInput['fields'], exclusive }))
  .superRefine((input, context) => {
    const selected = fieldsOfModel(input);
    const mustBeOptional = (name: string, path: (string | number)[]) => {
      if (selected.some((one) => one === name && mayBeAbsent(input, one))) return;
      const optional = selected.filter((one) => mayBeAbsent(input, one)).join(', ') || 'none';
      const message = `must name a field of this input that a request can leave out: ${optional}`;
      context.addIssue({ code: 'custom', path, message });
    };
    for (const name of selected)
      for (const other of fieldsRequiredWith(input, name)) mustBeOptional(other, [name, 'requires']);
    for (const [index, names] of input.exclusive.entries())
      for (const [position, name] of names.entries()) mustBeOptional(name, ['exclusive', index, position]);
  });

/** Every request has the fields with a default, so they cannot exclude another one. */
function mayBeAbsent(input: ModelInput, name: FieldName): boolean {
  if (name === 'imageUrls') return true;
  return inputFields[name].kind === 'optional' && defaultOf(input, name) === undefined;
}
