import type { OperatorAction } from '../../api/contract.ts';
import { formatNumber } from '../../ui/number-formats.tsx';
import { formatExactTime } from '../../ui/times-and-durations.tsx';
import { isObject, type InputValues } from '../models/field-schema-helpers.ts';
import { auditText, detailNames } from './audit-text.ts';

/** The reason has a column of its own, and ids mean nothing to a reader. */
const hidden = new Set(['reason', 'priceId', 'entryId', 'userId', 'linkId', 'batchId', 'purpose']);

/** Old and new values in one line. */
export function auditDetailWords({ details }: Pick<OperatorAction, 'details'>): string {
  const { from, to } = details;
  if (isObject(from) && isObject(to)) return changesOf(from, to);
  return listed(Object.entries(details).filter(([name]) => !hidden.has(name)));
}

export function reasonOf({ details }: Pick<OperatorAction, 'details'>): string | undefined {
  const { reason } = details;
  return typeof reason === 'string' ? reason : undefined;
}

/** "max unfinished tasks 1,000 → 40". */
function changesOf(from: InputValues, to: InputValues): string {
  return Object.keys(to)
    .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .map((name) => `${nameOf(name)} ${valueOf(name, from[name])} → ${valueOf(name, to[name])}`)
    .join(', ');
}

function listed(entries: readonly (readonly [name: string, value: unknown])[]): string {
  return entries
    .filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? nameOf(name) : `${nameOf(name)} ${valueOf(name, value)}`.trim()))
    .join(', ');
}

/** `maxUnfinishedTasks` → "max unfinished tasks". */
function nameOf(name: string): string {
  return detailNames[name] ?? name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function valueOf(name: string, value: unknown): string {
  if (typeof value === 'number') return /(?:Time|At|From)$/.test(name) ? formatExactTime(value) : formatNumber(value);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(' + ');
  if (isObject(value)) return listed(Object.entries(value));
  return value === null || value === undefined ? auditText.none : JSON.stringify(value);
}
