import type { Filter } from '../lists/filter-bar-and-url-parameters.tsx';
import { dayMs } from '../times-and-durations.tsx';

type Range = { from?: number | undefined; to?: number | undefined };

const spans = [
  ['1h', 'Last hour', 3_600_000],
  ['1d', 'Last 24 hours', dayMs],
  ['7d', 'Last 7 days', 7 * dayMs],
  ['30d', 'Last 30 days', 30 * dayMs],
] as const;
const custom = 'range';

/** From some time ago until now, or between two days of the reader's time zone. All of it stands in the address. */
export function presetOrDateRangeFilters<Query extends Range>(
  label: string,
  customLabel = 'Custom dates',
): readonly Filter<Query>[] {
  return [
    {
      name: 'since',
      label,
      options: [
        { value: '', label: 'Any time' },
        ...spans.map(([value, word]) => ({ value, label: word })),
        { value: custom, label: customLabel },
      ],
      // `from` is optional in every such query.
      query: (value, now) => {
        const span = spans.find(([one]) => one === value)?.[2];
        return (span === undefined ? {} : { from: now - span }) as Partial<Query>;
      },
    },
    dayFilter<Query>('from', `${label} from`),
    dayFilter<Query>('to', `${label} to`),
  ];
}

function dayFilter<Query extends Range>(name: keyof Range, label: string): Filter<Query> {
  return {
    name,
    label,
    control: DayField,
    // The last day is part of the range. Both are optional in every such query.
    query: (value) => {
      const ms = startOf(value, name === 'to' ? 1 : 0);
      return (ms === undefined ? {} : { [name]: ms }) as Partial<Query>;
    },
    isHidden: ({ since }) => since !== custom,
  };
}

/** Undefined for what is no day. */
function startOf(day: string, daysLater: number): number | undefined {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  const ms = date.getTime();
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}

type DayProps = { readonly label: string; readonly value: string; readonly onValue: (value: string) => void };

function DayField({ label, value, onValue }: DayProps) {
  return (
    <input
      type="date"
      class="input"
      aria-label={label}
      title={label}
      value={value}
      onChange={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}
