import type { JsonObject, JsonValue } from '../../platform/text/json.ts';
import pLimit from 'p-limit';
import { type Warn } from '../provider-contract.ts';
import { type Expression, ExpressionError } from '../../catalogue/providers/jsonata-expression.ts';

/** Receives every evaluated expression: its field in the file, and its value or error. */
export type TraceExpression = (
  field: string,
  outcome: { readonly value: JsonValue | undefined } | { readonly error: string },
) => void;

/**
 * Evaluates the expressions of a file; a missing one has no value. An error in a request is thrown, because then nothing may be
 * sent; one in an answer is no value, because an answer that cannot be read proves nothing.
 */
export type ExpressionReader = {
  required(field: string, expression: Expression, data: JsonObject): Promise<JsonValue>;
  value(field: string, expression: Expression | undefined, data: JsonObject): Promise<JsonValue | undefined>;
  /** Returns undefined only if the expression failed. */
  outcome(field: string, expression: Expression, data: JsonObject): Promise<Outcome | undefined>;
  /** A number becomes its text; an empty text is no value. */
  text(field: string, expression: Expression | undefined, data: JsonObject): Promise<string | undefined>;
  flag(field: string, expression: Expression | undefined, data: JsonObject): Promise<boolean>;
};

type Outcome = { readonly value: JsonValue | undefined };

/**
 * The readers of one file. Evaluations run one at a time, because interleaved ones would use up each other's time limit; those of
 * `creates` come first, because the id of a paid job may depend on them.
 */
export function createPrioritizedReaders(
  warn: Warn,
  trace: TraceExpression = () => undefined,
): { creates: ExpressionReader; others: ExpressionReader } {
  const warned = new Set<string>();
  const oneAtATime = pLimit(1);
  const readerWith = (maxInQueue: number) => {
    const admit = pLimit(maxInQueue);
    return createReader({ warn, warned, trace, run: (evaluate) => admit(() => oneAtATime(evaluate)) });
  };
  // At most one of the other evaluations is queued before those of a create.
  return { creates: readerWith(Infinity), others: readerWith(1) };
}

type ReaderDeps = {
  readonly warn: Warn;
  readonly warned: Set<string>;
  readonly trace: TraceExpression;
  readonly run: <T>(evaluate: () => Promise<T>) => Promise<T>;
};

function createReader({ warn, warned, trace, run }: ReaderDeps): ExpressionReader {
  const evaluated = async (field: string, expression: Expression, data: JsonObject) => {
    try {
      const value = await run(() => expression.evaluate(data));
      trace(field, { value });
      return { value };
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      trace(field, { error: error.message });
      return { error: `${field}: ${error.message}` };
    }
  };
  const outcome: ExpressionReader['outcome'] = async (field, expression, data) => {
    const result = await evaluated(field, expression, data);
    if (!('error' in result)) return result;
    // Every poll may repeat the error, so it is logged once.
    if (!warned.has(field)) warn('provider expression failed', result.error);
    warned.add(field);
    return undefined;
  };
  const value: ExpressionReader['value'] = async (field, expression, data) =>
    expression === undefined ? undefined : (await outcome(field, expression, data))?.value;
  return {
    value,
    outcome,
    required: async (field, expression, data) => {
      const result = await evaluated(field, expression, data);
      if ('error' in result) throw new ExpressionError(result.error);
      if (result.value === undefined) throw new ExpressionError(`${field}: has no value`);
      return result.value;
    },
    text: async (field, expression, data) => textOf(await value(field, expression, data)),
    flag: async (field, expression, data) => (await value(field, expression, data)) === true,
  };
}

export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
