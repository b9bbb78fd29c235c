import { CheckField, SegmentedOrSelectField, TextArea, TextField } from '../../../ui/forms/form-fields.tsx';
import { nonEmptyStringsOf } from '../../models/field-schema-helpers.ts';
import { fieldWord, valueWord } from '../../models/models-text.ts';
import { codePointCount } from '../draft/draft.ts';
import { type ModelInputControl, type ModelInputField, isGiven } from './form-fields-from-input-schema.ts';
import { MediaField } from '../media/media-field.tsx';
import type { OnPending } from '../media/use-reasons-to-wait-for-media.ts';
import { playgroundText } from '../playground-text.ts';

type ControlProps = {
  readonly field: ModelInputField;
  readonly value: unknown;
  /** Why the field cannot be used beside another one that is given. */
  readonly blocked: string | undefined;
  readonly onPending: OnPending;
  /** Called with a function of the current value. */
  readonly onValue: (change: (value: unknown) => unknown) => void;
};

/** The control for one field of `input`, as its schema describes it. */
export function FieldControl(props: ControlProps) {
  const { field, value, blocked, onPending, onValue } = props;
  const { name, path, control } = field;
  const hint = blocked ?? hintOf(field);
  const shared = { label: fieldWord(name), name: path, ...(hint !== '' && { hint }) };
  const onNext = (next: unknown) => onValue(() => next);
  const { kind } = control;
  if (kind === 'text')
    return <TextControl {...shared} field={name} control={control} text={String(value)} onValue={onNext} />;
  if (kind === 'choice')
    return <ChoiceControl {...shared} of={field} values={control.values} value={value} onValue={onNext} />;
  if (kind === 'switch') return <CheckField {...shared} isChecked={value === true} onValue={onNext} />;
  if (kind !== 'media')
    return <NumberControl {...shared} field={name} control={control} value={value} onValue={onNext} />;
  return (
    <MediaField
      {...shared}
      {...control}
      hint={hint}
      urls={nonEmptyStringsOf(value)}
      blocked={blocked}
      onPending={onPending}
      onUrls={(change) =>
        onValue((before) => {
          const urls = change(nonEmptyStringsOf(before));
          return control.isList ? urls : urls[0];
        })
      }
    />
  );
}

type Shared = {
  readonly label: string;
  /** The path of its errors. */
  readonly name: string;
  readonly hint?: string;
  readonly onValue: (value: unknown) => void;
};
type Of<Kind extends ModelInputControl['kind']> = Extract<ModelInputControl, { readonly kind: Kind }>;

type TextProps = Shared & { readonly field: string; readonly control: Of<'text'>; readonly text: string };

function TextControl({ field, control: { maxLength, isLong }, text, ...shared }: TextProps) {
  const left = maxLength - codePointCount(text);
  const all = { ...shared, value: text, count: left < maxLength * 0.2 ? playgroundText.charactersLeft(left) : '' };
  if (!isLong) return <TextField {...all} autocomplete="off" />;
  if (field !== 'prompt') return <TextArea {...all} rows={2} />;
  return <TextArea {...all} placeholder={playgroundText.promptExample} />;
}

type ChoiceProps = Shared & {
  readonly of: ModelInputField;
  readonly values: Of<'choice'>['values'];
  readonly value: unknown;
};

const unset = '';

function ChoiceControl({ of, values, value, onValue, ...shared }: ChoiceProps) {
  const { name, standard, isRequired } = of;
  const isOptional = standard === undefined && !isRequired;
  return (
    <SegmentedOrSelectField
      {...shared}
      value={isGiven(value) ? String(value) : unset}
      options={[
        ...(isOptional ? [{ value: unset, label: playgroundText.automatic }] : []),
        ...values.map((one) => ({ value: String(one), label: valueWord(name, one) })),
      ]}
      onValue={(chosen) => onValue(values.find((one) => String(one) === chosen))}
    />
  );
}

type NumberProps = Shared & {
  readonly field: string;
  readonly control: Of<'range' | 'number'>;
  readonly value: unknown;
};

function NumberControl({ field, control, value, onValue, ...shared }: NumberProps) {
  const text = isGiven(value) ? String(value) : '';
  if (control.kind === 'range') {
    return (
      <TextField
        {...shared}
        type="range"
        min={control.min}
        max={control.max}
        step={1}
        value={text}
        count={valueWord(field, text)}
        aria-valuetext={field === 'duration' ? playgroundText.seconds(text) : text}
        onValue={(next) => onValue(Number(next))}
      />
    );
  }
  return (
    <TextField
      {...shared}
      inputMode={control.isWhole ? 'numeric' : 'decimal'}
      autocomplete="off"
      placeholder={field === 'seed' ? playgroundText.random : playgroundText.automatic}
      value={text}
      count={spanOf(control)}
      onValue={(next) => onValue(next.trim())}
    />
  );
}

/** Bounds that a person would not meet are not worth a word. */
function spanOf({ min, max }: Of<'number'>): string {
  if (min === undefined || max === undefined || max - min > 1_000_000) return '';
  return `${min} to ${max}`;
}

/** The description is for those who write requests: here a default is in sight, and only fields without one need a line. */
function hintOf({ description, standard, needs, excludes, isRequired, control }: ModelInputField): string {
  const sentences = [
    control.kind === 'media' && rateWords(control, isRequired),
    // The label of a list of images needs no description.
    standard === undefined && !(control.kind === 'media' && control.isList && control.media === 'image') && description,
    needs.length > 0 && playgroundText.needs(needs.map(fieldWord).join(', ')),
    excludes.length > 0 && playgroundText.excludes(excludes.map(fieldWord).join(', ')),
  ];
  return sentences.filter(Boolean).join(' ');
}

function rateWords({ isList, min, max }: Of<'media'>, isRequired: boolean): string {
  if (!isList) return isRequired ? playgroundText.required : playgroundText.optional;
  if (min === 0) return playgroundText.optionalUpTo(max);
  return min === max ? playgroundText.exactly(min) : playgroundText.between(min, max);
}
