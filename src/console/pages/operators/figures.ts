import { duration } from '../../ui/time.tsx';

/** What somebody wrote as a number: with separators and either minus sign. NaN, which the service refuses in words, when it is none. */
export function wholeOf(text: string): number {
  const plain = text.replaceAll(/[\s,_\u00A0]/g, '').replace('\u2212', '-');
  return /^[+-]?\d+$/.test(plain) ? Number(plain) : Number.NaN;
}

/** As a figure in a sentence; undefined while it is none. */
export function writtenNumber(value: number): number | undefined {
  return Number.isSafeInteger(value) && value !== 0 ? value : undefined;
}

/** A time that is renewed every second or so, without the tenths that would make it tremble; clocks may differ a little. */
export function wholeSeconds(ms: number): string {
  return ms < 10_000 ? `${Math.max(1, Math.round(ms / 1000))}\u00A0s` : duration(ms);
}
