import { FilterSelect } from '../../ui/forms/form-fields.tsx';
import { useChoiceInUrl } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { dayMs, useNow } from '../../ui/times-and-durations.tsx';
import { creditsText } from './credits-text.ts';

const spans = ['7', '30', '90'] as const;
const options = spans.map((value) => ({ value, label: creditsText.spans[value] }));

/** The days in UTC, up to today, that a page adds up. The address has the choice of the reader. */
export function useDayRange() {
  const [days, setDays] = useChoiceInUrl('days', spans, '30');
  const today = Math.floor(useNow(60_000) / dayMs) * dayMs;
  return {
    days,
    fromMs: today - (Number(days) - 1) * dayMs,
    today,
    select: <FilterSelect label={creditsText.period} value={days} options={options} onValue={setDays} />,
  };
}
