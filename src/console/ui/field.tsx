import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

type FieldProps = {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What the service found wrong with it. */
  readonly fault?: string | undefined;
  /** Beside the label, such as the number of letters left. */
  readonly count?: string;
};

type Described = {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
};

/** Label, control, hint and fault, tied together for screen readers. */
function Field(props: FieldProps & { readonly children: (described: Described) => ComponentChildren }) {
  const { label, hint, fault, count, children } = props;
  const id = useId();
  const describedBy = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`]
    .filter(Boolean)
    .join(' ');
  return (
    <div class="field">
      <label for={id}>
        {label}
        {count !== undefined && <span class="count">{count}</span>}
      </label>
      {children({ id, 'aria-describedby': describedBy || undefined, 'aria-invalid': fault !== undefined })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

type TextProps = FieldProps &
  Omit<JSX.InputHTMLAttributes, 'label' | 'value' | 'onInput'> & {
    readonly value: string;
    readonly onValue: (value: string) => void;
  };

export function TextField({ label, hint, fault, count, value, onValue, ...rest }: TextProps) {
  return (
    <Field {...shared({ label, hint, fault, count })}>
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

type AreaProps = FieldProps &
  Omit<JSX.TextareaHTMLAttributes, 'label' | 'value' | 'onInput'> & {
    readonly value: string;
    readonly onValue: (value: string) => void;
  };

export function TextArea({ label, hint, fault, count, value, onValue, ...rest }: AreaProps) {
  return (
    <Field {...shared({ label, hint, fault, count })}>
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
export function FilterSelect<Value extends string>({ label, ...rest }: Omit<SelectProps<Value>, 'hint' | 'fault'>) {
  return <Choice aria-label={label} {...rest} />;
}

type ChoiceProps<Value extends string> = Omit<SelectProps<Value>, 'label'> &
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

type CheckProps = {
  readonly label: ComponentChildren;
  readonly hint?: string;
  readonly fault?: string | undefined;
  readonly isChecked: boolean;
  readonly onValue: (isChecked: boolean) => void;
};

export function CheckField({ label, hint, fault, isChecked, onValue }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onValue(event.currentTarget.checked)} />
      <span>
        {label}
        {hint !== undefined && <small>{hint}</small>}
        {fault !== undefined && <small class="fault">{fault}</small>}
      </span>
    </label>
  );
}

/** Choices of more letters than this fill more than two rows of buttons. */
const maxLetters = 70;

/** One of a few in sight, or of many in a list. */
export function ChoiceField<Value extends string>(props: SelectProps<Value>) {
  const letters = props.options.reduce((sum, { label }) => sum + Math.max(label.length, 4), 0);
  return letters > maxLetters ? <SelectField {...props} /> : <Segmented {...props} />;
}

/** One of a few, all in sight. */
export function Segmented<Value extends string>(props: SelectProps<Value>) {
  const { label, hint, fault, value, options, onValue } = props;
  const name = useId();
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      <div class="segmented">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onValue(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {fault !== undefined && <p class="fault">{fault}</p>}
    </fieldset>
  );
}

/** Without the properties that are undefined, which strict optional properties do not take. */
function shared({ label, hint, fault, count }: { [Key in keyof FieldProps]: FieldProps[Key] | undefined }): FieldProps {
  return { label: label ?? '', fault, ...(hint !== undefined && { hint }), ...(count !== undefined && { count }) };
}
