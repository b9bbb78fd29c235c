import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '../../platform/text/field-errors.ts';
import type { FrameSize } from '../media/frame-size.ts';
import type { TaskInput } from '../input/task-input.ts';
import type { CatalogueModel, TierEntry } from '../file/catalogue-schema-and-types.ts';
import { fieldOrUndefined } from '../file/file-data-and-problems.ts';
import { ruleErrors, imageSizeRefusal } from './input-rules.ts';

// The upstreams that a task may go to, and their order.

type Routed = Pick<CatalogueModel, 'model' | 'tiers'>;

/** Returns the problems of an input that no upstream of the model accepts, in the words of the first one; empty if one accepts it. */
export function inputErrorsOfModel({ model, tiers }: Routed, input: TaskInput): readonly FieldError[] {
  const all = tiers.flat().map((entry) => refusalsOf(entry, model, input));
  return all.some((errors) => errors.length === 0) ? [] : (all[0] ?? []);
}

/** Returns why no upstream that accepts the input takes an image of this size; undefined if one does. */
export function imageRefusalOfModel({ model, tiers }: Routed, input: TaskInput, size: FrameSize): string | undefined {
  const open = tiers.flat().filter((entry) => refusalsOf(entry, model, input).length === 0);
  const all = open.map(({ rules }) => imageSizeRefusal(rules, size));
  return all.includes(undefined) ? undefined : all[0];
}

/**
 * Returns the remaining tiers of a task, each in the order in which its entries are tried: those that accept the input and whose
 * provider has not failed. The order is the same in every attempt and on every worker.
 */
export function untriedTiersForTask(
  { model, tiers }: Routed,
  task: { readonly taskId: string; readonly input: TaskInput; readonly used: ReadonlySet<string> },
): readonly (readonly TierEntry[])[] {
  const isOpen = (entry: TierEntry) =>
    !task.used.has(entry.provider) && refusalsOf(entry, model, task.input).length === 0;
  return tiers.map((tier) => byWeight(task.taskId, tier.filter(isOpen))).filter((tier) => tier.length > 0);
}

function refusalsOf({ rules, ignores = {} }: TierEntry, model: string, input: TaskInput): readonly FieldError[] {
  const lost = Object.entries(ignores).filter(([field, without]) => !isDeepStrictEqual(valueOf(input, field), without));
  const ignored = lost.map(([field, without]) => {
    const allowed = without === null || Array.isArray(without) ? 'be left out' : `be ${String(without)}`;
    return { path: `input.${field}`, message: `must ${allowed} for ${model} with the rest of this input` };
  });
  return [...ruleErrors(rules, model, input), ...ignored];
}

/** The value of a field or of `options.NAME`; null without one. */
function valueOf(input: TaskInput, field: string): unknown {
  const [name = '', option] = field.split('.');
  return (option === undefined ? fieldOrUndefined(input, name) : fieldOrUndefined(input.options, option)) ?? null;
}

/**
 * Weighted sampling without replacement (Efraimidis and Spirakis): the entry with the largest u^(1/weight) comes first, u being
 * evenly distributed. Here u is a hash of the task and the pool, so a removed entry leaves the order of the others as it is.
 */
function byWeight(taskId: string, entries: readonly TierEntry[]): readonly TierEntry[] {
  const keyed = entries.map((entry) => ({ entry, key: Math.log(evenly(`${taskId}/${entry.pool}`)) / entry.weight }));
  return keyed.toSorted((a, b) => b.key - a.key).map(({ entry }) => entry);
}

/** Returns a number between 0 and 1, both excluded. */
function evenly(text: string): number {
  return (hash('sha256', text, 'buffer').readUIntBE(0, 6) + 0.5) / 2 ** 48;
}
