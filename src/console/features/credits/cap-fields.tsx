import { TextField } from '../../ui/field.tsx';
import { capsText } from './credits-text.ts';

const periods = ['day', 'month', 'total'] as const;
type Period = (typeof periods)[number];

export type CapTexts = Readonly<Record<'day' | 'month' | 'total', string>>;

export const noCaps: CapTexts = { day: '', month: '', total: '' };

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

/** An empty field removes the limit. */
export function capsOf(values: Readonly<Record<Period, string>>): Record<Period, number | null> {
  const cap = (text: string) => (text === '' ? null : Number(text));
  return { day: cap(values.day), month: cap(values.month), total: cap(values.total) };
}
