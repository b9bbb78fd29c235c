import type { ComponentType } from 'preact';
import { useLocation, useSearch } from 'wouter-preact';
import { Button } from '../controls/button.tsx';
import { FilterSelect, type Option } from '../forms/form-fields.tsx';
import { SearchField } from '../forms/search-field.tsx';
import { TabLinks } from '../controls/tab-links.tsx';
import { useNow } from '../times-and-durations.tsx';

type Control = ComponentType<{
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}>;

/** Tabs show how many rows each of them has. */
type CountedOption = Option<string> & { readonly count?: string | undefined };

/** Declared once per filter: its parameter in the address, its part of the query, its control. */
export type Filter<Query> = {
  readonly name: string;
  readonly label: string;
  /** The first option is the default, and has the value ''. Without `options` and `control` it is a text to search for. */
  readonly options?: readonly CountedOption[];
  readonly control?: 'tabs' | 'chip' | Control;
  /** The text of a chip, which only shows that a link from elsewhere narrowed the list. */
  readonly chip?: (value: string) => string;
  readonly query: (value: string, now: number) => Partial<Query>;
  /** Out of sight, because it means nothing beside the other values; its value does not count then. */
  readonly isHidden?: (values: Readonly<Record<string, string>>) => boolean;
};

type Choice<Name extends string, Value extends string> = Pick<Filter<never>, 'label' | 'control' | 'isHidden'> & {
  readonly name: Name;
  /** The label of the default, which chooses nothing. */
  readonly all: string;
  readonly values: readonly Value[];
  /** In the address: it stays a choice, also if the service no longer has it. */
  readonly given?: Value | undefined;
  readonly word?: (value: Value) => string;
};

/** One of a few values, which the query has under the name of the filter. */
export function choiceFilter<Name extends string, Value extends string>(
  choice: Choice<Name, Value>,
): Filter<{ [Key in Name]?: Value | undefined }> {
  const { all, values, given, word = (value) => value, ...filter } = choice;
  const offered = new Set(given === undefined ? values : [...values, given]);
  return {
    ...filter,
    options: [{ value: '', label: all }, ...[...offered].map((value) => ({ value, label: word(value) }))],
    // Only values of the options get here.
    query: (value) => ({ [filter.name]: value }) as { [Key in Name]?: Value },
  };
}

/** One of a few values in the address, which leaves out the default. */
export function useChoiceInUrl<Value extends string>(name: string, values: readonly Value[], byDefault: Value) {
  const { get, set } = useUrlParameters();
  const value = values.find((one) => one === get(name)) ?? byDefault;
  return [value, (next: Value) => set({ [name]: next === byDefault ? undefined : next })] as const;
}

type Changes = Readonly<Record<string, string | undefined>>;

/** The parameters of the address: filters, tabs and pages live there, so that they survive a reload and can be shared. */
export function useUrlParameters() {
  const search = new URLSearchParams(useSearch());
  const [path, navigate] = useLocation();
  // From the current address: timers and responses come long after the render in which they began.
  const hrefWith = (changes: Changes) => {
    const next = new URLSearchParams(location.search);
    // Another filter begins at the first page again.
    if (!('cursor' in changes)) next.delete('cursor');
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, value);
    }
    const query = next.toString();
    return query === '' ? path : `${path}?${query}`;
  };
  return {
    get: (name: string): string | undefined => search.get(name) ?? undefined,
    hrefWith,
    // The state of the entry stays, because the entry before is still the same one.
    set: (changes: Changes) => navigate(hrefWith(changes), { replace: true, state: history.state as unknown }),
    push: (changes: Changes, state: unknown) => navigate(hrefWith(changes), { state }),
  };
}

const minuteMs = 60_000;

/** The values of declared filters, and the query that they make. */
export function useFilters<Query>(filters: readonly Filter<Query>[]) {
  const { get, set, hrefWith } = useUrlParameters();
  // To the minute, so that the query stays the same from one render to the next.
  const now = Math.floor(useNow(minuteMs) / minuteMs) * minuteMs;
  const given = Object.fromEntries(filters.map(({ name, options }) => [name, known(options, get(name) ?? '')]));
  const shown = filters.filter(({ isHidden }) => isHidden?.(given) !== true);
  const values = Object.fromEntries(shown.map(({ name }) => [name, given[name] ?? '']));
  const active = shown.filter(({ name }) => values[name] !== '');
  return {
    filters: shown,
    values,
    // Each part is a part of the query, whose required fields the list gives itself.
    query: Object.assign({}, ...active.map(({ name, query }) => query(values[name] ?? '', now))) as Partial<Query>,
    isFiltered: active.length > 0,
    set,
    hrefWith,
    clear: () => {
      set(Object.fromEntries(filters.map(({ name }) => [name, undefined])));
      // The button that has the focus disappears.
      document.querySelector<HTMLElement>('.filter-bar :is(a, input, select)')?.focus();
    },
  };
}

function known(options: readonly Option<string>[] | undefined, value: string): string {
  return options === undefined || options.some((option) => option.value === value) ? value : '';
}

type BarProps<Query> = { readonly state: ReturnType<typeof useFilters<Query>> };

/** The controls of all filters, and the button that clears them. */
export function FilterBar<Query>({ state }: BarProps<Query>) {
  const { filters, values, isFiltered, set, hrefWith, clear } = state;
  const tabs = filters.filter(({ control }) => control === 'tabs');
  const others = filters.filter(({ control }) => control !== 'tabs');
  return (
    <div class="filter-bar stack">
      {tabs.map(({ name, label, options = [] }) => (
        <TabLinks
          key={name}
          label={label}
          tabs={options.map((option) => ({
            href: hrefWith({ [name]: option.value }),
            label: option.label,
            count: option.count,
            isCurrent: values[name] === option.value,
          }))}
        />
      ))}
      {(others.some(({ control }) => control !== 'chip') || isFiltered) && (
        <div class="row filters">
          {others.map((filter) => (
            <FilterControl
              key={filter.name}
              filter={filter}
              value={values[filter.name] ?? ''}
              onValue={(value) => set({ [filter.name]: value })}
            />
          ))}
          {isFiltered && (
            <Button variant="quiet" onClick={clear}>
              Clear
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

type FilterControlProps<Query> = {
  readonly filter: Filter<Query>;
  readonly value: string;
  readonly onValue: (value: string) => void;
};

function FilterControl<Query>({ filter, value, onValue }: FilterControlProps<Query>) {
  const { label, options, control: Given, chip } = filter;
  if (Given === 'chip') return value === '' ? null : <span class="badge">{chip?.(value)}</span>;
  if (Given !== undefined && Given !== 'tabs') return <Given label={label} value={value} onValue={onValue} />;
  if (options !== undefined) return <FilterSelect label={label} value={value} options={options} onValue={onValue} />;
  return <SearchField label={label} value={value} onValue={onValue} />;
}
