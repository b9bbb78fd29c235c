import { TextField } from '../../ui/forms/form-fields.tsx';
import { capsText } from './credits-text.ts';

const periods = ['day', 'month', 'total'] as const;
type Period = (typeof periods)[number];

export type CapFieldValues = Readonly<Record<Period, string>>;

export const emptyCapFieldValues: CapFieldValues = { day: '', month: '', total: '' };

type CapFieldsProps = {
  readonly field: (name: Period) => { readonly value: string; readonly onValue: (value: string) => void };
  /** Precedes the name of a period in the request. */
  readonly path?: string;
};

export function CapFields({ field, path = '' }: CapFieldsProps) {
  return (
    <div class="amounts">
      {periods.map((period) => (
        <TextField
          key={period}
          label={capsText.periods[period]}
          type="number"
          min={0}
          step={1}
          {...field(period)}
          name={`${path}${period}`}
        />
      ))}
    </div>
  );
}

export function parseCapFields(values: CapFieldValues): Record<Period, number | null> {
  return { day: capOf(values.day), month: capOf(values.month), total: capOf(values.total) };
}

/**
 * The limits that differ from those that the form was filled with. The others are left out of the request, so that it does not undo a
 * change that another owner made meanwhile.
 */
export function changedCaps(values: CapFieldValues, before: CapFieldValues): Partial<Record<Period, number | null>> {
  const changed = periods.filter((period) => values[period] !== before[period]);
  return Object.fromEntries(changed.map((period) => [period, capOf(values[period])]));
}

/** An empty field removes the limit. */
function capOf(text: string): number | null {
  return text === '' ? null : Number(text);
}
