import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { useClaimedFieldError } from './form.tsx';
import './field.css';

type FieldProps = {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The path under which the service reports errors of this field; the form around it passes them on. */
  readonly name?: string | undefined;
  /** Beside the label, such as the number of characters left. */
  readonly count?: string | undefined;
};

type Described = {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
};

/** Label, control, hint and error, tied together for screen readers. */
export function Field(props: FieldProps & { readonly children: (described: Described) => ComponentChildren }) {
  const { label, count, children } = props;
  const { described, notes } = useNotes(props);
  return (
    <div class="field">
      <label for={described.id}>
        {label}
        {count !== undefined && <span class="count">{count}</span>}
      </label>
      {children(described)}
      {notes}
    </div>
  );
}

/** The hint and the error of a field, and the attributes that connect its control with them. */
function useNotes({ hint, name }: Pick<FieldProps, 'hint' | 'name'>) {
  const id = useId();
  const error = useClaimedFieldError(name);
  const describedBy = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  const described: Described = {
    id,
    'aria-describedby': describedBy.join(' ') || undefined,
    'aria-invalid': error !== undefined,
  };
  const notes = (
    <>
      {hint !== undefined && (
        <p class="under" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </>
  );
  return { described, notes };
}

type Valued<Attributes> = FieldProps &
  Omit<Attributes, 'label' | 'name' | 'value' | 'onInput'> & {
    readonly value: string;
    readonly onValue: (value: string) => void;
  };

export function TextField({ label, hint, count, value, onValue, ...rest }: Valued<JSX.InputHTMLAttributes>) {
  return (
    <Field label={label} hint={hint} count={count} name={rest.name}>
      {(described) => (
        <input
          type="text"
          {...rest}
          {...described}
          class="input"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function TextArea({ label, hint, count, value, onValue, ...rest }: Valued<JSX.TextareaHTMLAttributes>) {
  return (
    <Field label={label} hint={hint} count={count} name={rest.name}>
      {(described) => (
        <textarea
          dir="auto"
          {...rest}
          {...described}
          class="input"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export type Option<Value extends string> = { readonly value: Value; readonly label: string };

type SelectProps<Value extends string> = FieldProps & {
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onValue: (value: Value) => void;
};

export function SelectField<Value extends string>({ value, options, onValue, ...field }: SelectProps<Value>) {
  return (
    <Field {...field}>
      {(described) => <Choice {...described} value={value} options={options} onValue={onValue} />}
    </Field>
  );
}

/** A select whose label is for screen readers alone, as in a row of filters. */
export function FilterSelect<Value extends string>({
  label,
  ...rest
}: ChoiceProps<Value> & { readonly label: string }) {
  return <Choice aria-label={label} {...rest} />;
}

type ChoiceProps<Value extends string> = Pick<SelectProps<Value>, 'value' | 'options' | 'onValue'> &
  JSX.AriaAttributes & { readonly id?: string };

function Choice<Value extends string>({ value, options, onValue, ...rest }: ChoiceProps<Value>) {
  return (
    <select
      {...rest}
      class="input"
      value={value}
      onChange={(event) => {
        const chosen = options.find((option) => option.value === event.currentTarget.value);
        if (chosen !== undefined) onValue(chosen.value);
      }}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

type CheckProps = Pick<FieldProps, 'name'> & {
  readonly label: ComponentChildren;
  readonly hint?: string;
  readonly isChecked: boolean;
  readonly onValue: (isChecked: boolean) => void;
};

export function CheckField({ label, hint, name, isChecked, onValue }: CheckProps) {
  const { described, notes } = useNotes({ hint, name });
  return (
    <label class="check field">
      <input
        type="checkbox"
        {...described}
        checked={isChecked}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <span>
        {label}
        {notes}
      </span>
    </label>
  );
}

type CheckListProps<Value extends string> = {
  readonly label: string;
  readonly name?: string;
  readonly options: readonly Value[];
  readonly chosen: readonly Value[];
  /** By default the options themselves. */
  readonly wordsOf?: (option: Value) => ComponentChildren;
  readonly onChosen: (chosen: readonly Value[]) => void;
};

/** Any of a few, in the order of the options. */
export function CheckList<Value extends string>(props: CheckListProps<Value>) {
  const { label, name, options, chosen, wordsOf = (option) => option, onChosen } = props;
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      {options.map((option, index) => (
        <CheckField
          key={option}
          label={wordsOf(option)}
          // One error for the list, beside its first box.
          name={index === 0 ? name : undefined}
          isChecked={chosen.includes(option)}
          onValue={(isChecked) =>
            onChosen(options.filter((one) => (one === option ? isChecked : chosen.includes(one))))
          }
        />
      ))}
    </fieldset>
  );
}

/** Choices of more letters than this fill more than two rows of buttons. */
const maxLetters = 70;

/** One of a few in sight, or of many in a list. */
export function SegmentedOrSelectField<Value extends string>(props: SelectProps<Value>) {
  const letters = props.options.reduce((sum, { label }) => sum + Math.max(label.length, 4), 0);
  return letters > maxLetters ? <SelectField {...props} /> : <Segmented {...props} />;
}

/** One of a few, all in sight. */
export function Segmented<Value extends string>({ label, value, options, onValue, ...field }: SelectProps<Value>) {
  const { described, notes } = useNotes(field);
  return (
    <fieldset
      class="field"
      role="radiogroup"
      aria-describedby={described['aria-describedby']}
      aria-invalid={described['aria-invalid']}
    >
      <legend>{label}</legend>
      <div class="segmented">
        {options.map((option) => (
          <label key={option.value} class="option">
            <input
              type="radio"
              name={described.id}
              value={option.value}
              checked={option.value === value}
              onChange={() => onValue(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
      {notes}
    </fieldset>
  );
}
