import { CheckField, ChoiceField, TextArea, TextField } from '../../ui/field.tsx';
import { number } from '../../ui/money.tsx';
import { fieldWord, valueWord } from '../../words.ts';
import { textsOf } from '../input-values.ts';
import { lengthOf } from './playground-form.ts';
import { MediaField } from './playground-media.tsx';
import { type Control, type Field, isGiven } from './playground-schema.ts';

type ControlProps = {
  readonly field: Field;
  readonly value: unknown;
  readonly fault: string | undefined;
  /** Why the field cannot be used beside another one that is given. */
  readonly blocked: string | undefined;
  /** Called with a function of the current value. */
  readonly onValue: (change: (value: unknown) => unknown) => void;
};

/** The control for one field of `input`, as its schema describes it. */
export function FieldControl(props: ControlProps) {
  const { field, value, fault, blocked, onValue } = props;
  const { name, control } = field;
  const hint = blocked ?? hintOf(field);
  const shared = { label: fieldWord(name), fault, ...(hint !== '' && { hint }) };
  const onNext = (next: unknown) => onValue(() => next);
  const { kind } = control;
  if (kind === 'text')
    return <TextControl {...shared} name={name} control={control} text={String(value)} onValue={onNext} />;
  if (kind === 'choice')
    return <ChoiceControl {...shared} field={field} values={control.values} value={value} onValue={onNext} />;
  if (kind === 'switch') return <CheckField {...shared} isChecked={value === true} onValue={onNext} />;
  if (kind !== 'media')
    return <NumberControl {...shared} name={name} control={control} value={value} onValue={onNext} />;
  return (
    <MediaField
      {...shared}
      {...control}
      hint={hint}
      urls={textsOf(value)}
      blocked={blocked}
      onUrls={(change) =>
        onValue((before) => {
          const urls = change(textsOf(before));
          return control.isList ? urls : urls[0];
        })
      }
    />
  );
}

type Shared = {
  readonly label: string;
  readonly hint?: string;
  readonly fault: string | undefined;
  readonly onValue: (value: unknown) => void;
};
type Of<Kind extends Control['kind']> = Extract<Control, { readonly kind: Kind }>;

type TextProps = Shared & { readonly name: string; readonly control: Of<'text'>; readonly text: string };

function TextControl({ name, control: { maxLength, isLong }, text, ...shared }: TextProps) {
  const left = maxLength - lengthOf(text);
  const all = { ...shared, value: text, count: left < maxLength * 0.2 ? `${number(left)} left` : '' };
  if (!isLong) return <TextField {...all} autocomplete="off" />;
  if (name !== 'prompt') return <TextArea {...all} rows={2} />;
  return <TextArea {...all} placeholder="A lighthouse in a storm, seen from the sea, slow dolly in" />;
}

type ChoiceProps = Shared & { readonly field: Field; readonly values: Of<'choice'>['values']; readonly value: unknown };

const unset = '';

function ChoiceControl({ field: { name, standard, isRequired }, values, value, onValue, ...shared }: ChoiceProps) {
  const isOptional = standard === undefined && !isRequired;
  return (
    <ChoiceField
      {...shared}
      value={isGiven(value) ? String(value) : unset}
      options={[
        ...(isOptional ? [{ value: unset, label: 'Automatic' }] : []),
        ...values.map((one) => ({ value: String(one), label: valueWord(name, one) })),
      ]}
      onValue={(chosen) => onValue(values.find((one) => String(one) === chosen))}
    />
  );
}

type NumberProps = Shared & {
  readonly name: string;
  readonly control: Of<'range' | 'number'>;
  readonly value: unknown;
};

function NumberControl({ name, control, value, onValue, ...shared }: NumberProps) {
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
        count={valueWord(name, text)}
        aria-valuetext={name === 'duration' ? `${text} seconds` : text}
        onValue={(next) => onValue(Number(next))}
      />
    );
  }
  return (
    <TextField
      {...shared}
      inputMode={control.isWhole ? 'numeric' : 'decimal'}
      autocomplete="off"
      placeholder={name === 'seed' ? 'Random' : 'Automatic'}
      value={text}
      count={control.span}
      onValue={(next) => onValue(next.trim())}
    />
  );
}

/** The API describes a field for those who write a request; here the default is in sight, and only what it means is worth a line. */
function hintOf({ description, standard, needs, excludes, isRequired, control }: Field): string {
  const sentences = [
    control.kind === 'media' && amountWords(control, isRequired),
    // The label of a list of images needs no description.
    standard === undefined && !(control.kind === 'media' && control.isList && control.media === 'image') && description,
    needs.length > 0 && `Needs: ${needs.map(fieldWord).join(', ')}.`,
    excludes.length > 0 && `Not together with: ${excludes.map(fieldWord).join(', ')}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

function amountWords({ isList, min, max }: Of<'media'>, isRequired: boolean): string {
  if (!isList) return isRequired ? 'Required.' : 'Optional.';
  if (min === 0) return `Optional, at most ${max}.`;
  return min === max ? `Exactly ${max}.` : `${min} to ${max}.`;
}
