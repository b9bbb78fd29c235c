import jsonata from 'jsonata';
import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import { parsedJson, type JsonObject, type JsonValue } from '../../platform/text/json.ts';
import { snakeCase } from './options-as-upstream-fields.ts';

// JSONata expressions of a provider file. Upstreams are not trusted, so an evaluation is bounded in steps, depth, time and size.

export type Expression = {
  readonly text: string;
  /** The names of fields that it reads, such as `input.prompt`, without what follows a step that is no name. */
  readonly paths: readonly (readonly string[])[];
  /** The value as JSON; undefined for nothing. Throws an `ExpressionError`. Evaluations of one expression must not overlap. */
  evaluate(data: JsonObject): Promise<JsonValue | undefined>;
};

/** An expression that is invalid, or whose evaluation failed. The message repeats no data. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

const maxCharacters = 4000;
const maxSteps = 20_000;
/** The steps bound the work. The timeout is by the clock, which also runs while a busy machine does something else. */
const limits = { stack: 200, timeout: 1_000, sequence: 10_000 };
/** Characters, items and fields of all intermediate values together. */
const maxSize = 2_000_000;

/** The functions whose work is proportional to their arguments. Patterns can run forever, and `$eval` runs the upstream's text. */
const functions = ['string', 'length', 'substring', 'substringBefore', 'substringAfter', 'lowercase', 'uppercase']
  .concat(['trim', 'contains', 'split', 'replace', 'encodeUrlComponent', 'number', 'floor', 'ceil', 'round', 'abs'])
  .concat(['sum', 'count', 'max', 'min', 'boolean', 'not', 'exists', 'type', 'map', 'filter', 'single', 'keys'])
  .concat(['lookup', 'append', 'reverse', 'merge', 'toMillis', 'fromJson', 'snakeKeys']);

/** The name of a variable that no expression can write, because of its space. */
const budgetName = ' budget';

type Budget = { steps: number; size: number };

/** Reads an expression once, for any number of evaluations; throws an `ExpressionError` with all problems. */
export function compileExpression(text: string): Expression {
  const compiled = checked(text);
  compiled.registerFunction('fromJson', fromJson, '<s-:x>');
  compiled.registerFunction('snakeKeys', snakeKeys, '<o:o>');
  // The library finds its hooks among the variables, by symbols.
  const hooks = compiled as unknown as { assign(name: symbol, hook: typeof countStep | typeof countSize): void };
  hooks.assign(Symbol.for('jsonata.__evaluate_entry'), countStep);
  hooks.assign(Symbol.for('jsonata.__evaluate_exit'), countSize);
  return {
    text,
    paths: nodesOf(compiled.ast()).flatMap(pathOf),
    evaluate: async (data) => {
      try {
        // A pause of the whole process counts as time, too, so a timeout is retried once: the id of a paid job may depend on this answer.
        return await evaluated(compiled, data).catch((error: unknown) => {
          if (isTimeout(error)) return evaluated(compiled, data);
          throw error;
        });
      } catch (error) {
        throw new ExpressionError(describe(error));
      }
    },
  };
}

async function evaluated(compiled: jsonata.Expression, data: JsonObject): Promise<JsonValue | undefined> {
  const budget: Budget = { steps: maxSteps, size: maxSize };
  return plainJson(await compiled.evaluate(data, { [budgetName]: budget }), budget);
}

function checked(text: string): jsonata.Expression {
  if (text.length > maxCharacters) throw new ExpressionError(`must be at most ${maxCharacters} characters`);
  try {
    const compiled = jsonata(text, limits);
    const nodes = nodesOf(compiled.ast());
    const own = boundNames(nodes);
    const problems = nodes.flatMap((node) => problemsOf(node, own));
    if (problems.length > 0) throw new ExpressionError(problems.join('; '));
    // A variable is not the function of that name, not even before it gets its value.
    for (const name of own) compiled.assign(name, undefined);
    return compiled;
  } catch (error) {
    throw new ExpressionError(describe(error));
  }
}

type Node = Readonly<Record<string, unknown>>;

function nodesOf(value: unknown): readonly Node[] {
  if (typeof value !== 'object' || value === null) return [];
  // Any object has fields of unknown kinds.
  const node = value as Node;
  return [node, ...Object.values(node).flatMap(nodesOf)];
}

function pathOf({ type, steps }: Node): readonly (readonly string[])[] {
  if (type !== 'path' || !Array.isArray(steps)) return [];
  // The steps of a path are parts of an expression.
  const all = steps as readonly Node[];
  const [first] = all;
  // `$` and `$$` are the data, mostly the same.
  const named =
    first?.['type'] === 'variable' && (first['value'] === '' || first['value'] === '$') ? all.slice(1) : all;
  const end = named.findIndex((step) => step['type'] !== 'name');
  const names = named.slice(0, end === -1 ? named.length : end).map(({ value }) => String(value));
  return names.length === 0 ? [] : [names];
}

function boundNames(nodes: readonly Node[]): ReadonlySet<string> {
  const names = nodes.flatMap(({ type, lhs, arguments: parameters, focus, index }) => {
    if (type === 'bind') return [nameOf(lhs)];
    return type === 'lambda' && Array.isArray(parameters) ? parameters.map(nameOf) : [focus, index];
  });
  return new Set(names.filter((name) => typeof name === 'string'));
}

function nameOf(variable: unknown): unknown {
  return typeof variable === 'object' && variable !== null && 'value' in variable ? variable.value : undefined;
}

function problemsOf({ type, value, position }: Node, own: ReadonlySet<string>): readonly string[] {
  const at = `at character ${String(position)}:`;
  if (type === 'regex')
    return [`${at} patterns are not allowed; use $contains, $split or $substringBefore with a text`];
  if (type === 'transform' || type === 'partial') return [`${at} this operator is not allowed`];
  if (type === 'binary' && value === '..') return [`${at} ranges are not allowed`];
  // `$` and `$$` are the data.
  if (type !== 'variable' || typeof value !== 'string' || value === '' || value === '$' || own.has(value)) return [];
  return functions.includes(value) ? [] : [`${at} $${value}: ${unknownNameMessage('function', value, functions)}`];
}

/** Undefined for what is no JSON. */
function fromJson(text: string | undefined): unknown {
  return text === undefined ? undefined : parsedJson(text);
}

/** Names of options are in camel case, and most upstreams have names in snake case. */
function snakeKeys(map: JsonObject | undefined): JsonObject | undefined {
  return map && Object.fromEntries(Object.entries(map).map(([name, value]) => [snakeCase(name), value]));
}

function countStep(_node: unknown, _input: unknown, environment: jsonata.Environment): void {
  if (--budgetOf(environment).steps < 0) throw new ExpressionError(`took more than ${maxSteps} steps`);
}

function countSize(_node: unknown, _input: unknown, environment: jsonata.Environment, value: unknown): void {
  take(value, budgetOf(environment), maxDepth);
}

function budgetOf(environment: jsonata.Environment): Budget {
  // `evaluate` above puts it there.
  return environment.lookup(budgetName) as Budget;
}

const maxDepth = 100;

/** A value that contains others many times counts them as often, as its text would. */
function take(value: unknown, budget: Budget, levels: number): void {
  budget.size -= typeof value === 'string' ? value.length : 1;
  if (budget.size < 0) throw new ExpressionError(`made values of more than ${maxSize} characters`);
  if (typeof value !== 'object' || value === null || isFunction(value)) return;
  if (levels === 0) throw new ExpressionError(`met values that are nested deeper than ${maxDepth} levels`);
  for (const inner of Object.values(value)) take(inner, budget, levels - 1);
}

/** The library's functions refer to their scopes, which are no data. */
function isFunction(value: object): boolean {
  return '_jsonata_lambda' in value || '_jsonata_function' in value;
}

/** Functions and other things that are no data are left out, and the library's lists become plain ones. */
function plainJson(value: unknown, budget: Budget): JsonValue | undefined {
  take(value, budget, maxDepth);
  const text: string | undefined = JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && isFunction(one) ? undefined : one,
  );
  // The text is JSON.
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
}

/** The library throws plain objects. */
type JsonataError = {
  readonly code?: string;
  readonly position?: number;
  readonly token?: unknown;
  readonly message?: string;
};

const kinds: Readonly<Record<string, string>> = {
  D1011: `is nested deeper than ${limits.stack} levels`,
  D1012: `took longer than ${limits.timeout} ms`,
  D2015: `made a list of more than ${limits.sequence} items`,
};

function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'D1012';
}

/** No message repeats data, or a long word of the file, which could be a secret. */
function describe(error: unknown): string {
  if (error instanceof ExpressionError) return error.message;
  if (error instanceof RangeError) return 'is nested too deeply, or makes too long a text';
  const { code = 'unknown', position = 0, token, message = '' } = error as JsonataError;
  const isPlain = code.startsWith('S') && (typeof token !== 'string' || token.length <= 10);
  return kinds[code] ?? `at character ${position}: ${isPlain ? message : `failed (${code})`}`;
}
