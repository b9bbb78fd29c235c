import { useEffect, useState } from 'preact/hooks';

/** With the name of the reader's time zone, because documents and statements are in UTC. */
const exact = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const short = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const relative = new Intl.RelativeTimeFormat('en', { style: 'narrow' });

export const dayMs = 86_400_000;

const units = [
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** "3m ago", with the exact time on hover; older than a week, the date. Null is "never". */
export function Time({ ms }: { readonly ms: number | null }) {
  if (ms === null) return <>never</>;
  // A new time begins with a new clock: the last tick of the other may lie before it, and it would appear to be in the future.
  return <TimeAgo key={ms} ms={ms} />;
}

function TimeAgo({ ms }: { readonly ms: number }) {
  const now = useNow(30_000);
  return (
    <time dateTime={new Date(ms).toISOString()} title={exact.format(ms)} class="nowrap">
      {Math.abs(now - ms) > 7 * dayMs ? day.format(ms) : relativeTime(ms - now)}
    </time>
  );
}

export function ExactTime({ ms }: { readonly ms: number }) {
  return <time dateTime={new Date(ms).toISOString()}>{exact.format(ms)}</time>;
}

/** The time of day alone, next to a known day. */
export function ClockTime({ ms }: { readonly ms: number }) {
  return (
    <time dateTime={new Date(ms).toISOString()} title={exact.format(ms)}>
      {short.format(ms)}
    </time>
  );
}

export function relativeTime(differenceMs: number): string {
  if (Math.abs(differenceMs) < 5000) return 'now';
  const [unit, lengthMs] = units.find(([, length]) => Math.abs(differenceMs) >= length) ?? units[3];
  return relative.format(Math.trunc(differenceMs / lengthMs), unit);
}

/** "4.2 s", "3 min 5 s", "2 h 10 min": two units at most, or a dash without any. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms)}\u00A0ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)}\u00A0s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return parts(minutes, 'min', Math.floor((ms % 60_000) / 1000), 's');
  if (minutes < 48 * 60) return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  return parts(Math.floor(minutes / 1440), 'd', Math.floor((minutes % 1440) / 60), 'h');
}

function parts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  const tail = small === 0 ? '' : ` ${small}\u00A0${smallUnit}`;
  return `${large}\u00A0${largeUnit}${tail}`;
}

/** Unix milliseconds, renewed at this pace. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Returns the time as a field of type `datetime-local` spells it, in the reader's time zone; its first ten characters are the day. */
export function datetimeLocalValue(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** To the second, in the reader's time zone. */
export function formatExactTime(ms: number): string {
  return exact.format(ms);
}
