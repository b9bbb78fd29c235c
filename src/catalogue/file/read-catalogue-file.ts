import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import { resolveCatalogue } from './resolve-catalogue.ts';
import type { ReferencedFile } from './cross-checks.ts';
import { priceAsFileRows } from '../prices/prices-schema-and-file-rows.ts';
import { type FileProblem, fieldOrUndefined, fieldPairsOrNone } from './file-data-and-problems.ts';
import type { Catalogue } from './catalogue-schema-and-types.ts';
import { ConfigError, errorCode, SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import { placeholderProblems } from '../providers/input-template-placeholders.ts';
import { describeFieldError, fieldPath, firstOfEachPath } from '../../platform/text/field-errors.ts';
import type { SecretReader } from './provider-schema.ts';
import { defaultModels } from '../models/model-type-and-name-lookup.ts';
import { upstreamCanReachUs } from '../../platform/outbound/guard/upstream-can-reach-us.ts';
import { type ProviderFile, parseProviderFile } from '../providers/provider-file-schema.ts';

export type CatalogueReadOptions = {
  /** A file in YAML or JSON. */
  readonly path: string;
  /** If it is given, every secret of providers must exist; a process that calls no provider needs none. */
  readonly readSecret?: SecretReader;
  /** The same for the secrets of moderation hooks. */
  readonly readHookSecret?: SecretReader;
  /** If it is given, fields that need an upstream that can reach us are checked against its address. */
  readonly publicUrl?: string;
  readonly readText?: (path: string) => string;
};

/**
 * Reads the catalogue and checks the files that it refers to. Throws only `ConfigError`, with every problem; no message repeats a value
 * of a file, which could be a misplaced secret.
 */
export function readCatalogueOrThrow(source: CatalogueReadOptions): Catalogue {
  const { path, readSecret, readHookSecret, publicUrl, readText = readWholeFile } = source;
  const { data, problems: unreadable } = parsedFile(() => readText(path));
  if (unreadable.length > 0) throw configError(path, unreadable);
  const { catalogue, problems } = resolveCatalogue(data, {
    readFile: (kind, name) => {
      const included = kind === 'http' ? shippedPath(name) : undefined;
      const problem = included === undefined ? undefined : unknownShipped(name);
      if (problem !== undefined) return { problem };
      const parsed = parsedFile(() =>
        included === undefined ? readText(resolve(dirname(path), name)) : readWholeFile(included),
      );
      return referencedFile(kind, parsed);
    },
    locate: (name) => locateFile(resolve(dirname(path), name)),
    isReachableFrom: (baseUrl) => publicUrl === undefined || upstreamCanReachUs(publicUrl, baseUrl),
    secretProblem: (ref, user) => {
      const read = user === 'provider' ? readSecret : readHookSecret;
      return read === undefined ? undefined : secretProblem(read(ref));
    },
  });
  if (catalogue === undefined) throw configError(path, problems);
  return catalogue;
}

function locateFile(path: string): { readonly path: string; readonly problem?: string } {
  try {
    accessSync(path, constants.R_OK);
    return { path };
  } catch (error) {
    return { path, problem: `this file cannot be read (${errorCode(error) ?? 'unknown'})` };
  }
}

/** Reads a single file of the kind `http`, by path or as `builtin:NAME`. Throws a `ConfigError` with every problem. */
export function readProviderFileAt(path: string): ProviderFile {
  const unknown = shippedPath(path) === undefined ? undefined : unknownShipped(path);
  if (unknown !== undefined) throw new ConfigError([unknown]);
  const { data, problems: unreadable } = parsedFile(() => readWholeFile(shippedPath(path) ?? path));
  if (unreadable.length > 0) throw configError(path, unreadable);
  const { file, problems } = parseProviderFile(data);
  if (file === undefined) throw configError(path, problems);
  return file;
}

/** Returns the path of a file that comes with this service; the names cannot leave its folder. */
function shippedPath(file: string): string | undefined {
  const [, name] = /^builtin:([\w-]+)$/.exec(file) ?? [];
  return name === undefined ? undefined : fileURLToPath(import.meta.resolve(`#assets/providers/${name}.yaml`));
}

/** Returns the error of a name that no file of this service has. */
function unknownShipped(file: string): string | undefined {
  const name = file.slice('builtin:'.length);
  const folder = dirname(fileURLToPath(import.meta.resolve('#assets/providers/kie.yaml')));
  const names = readdirSync(folder).map((one) => basename(one, '.yaml'));
  return names.includes(name) ? undefined : unknownNameMessage('built-in file', name, names);
}

/** The catalogue of an installation without a file. */
export function builtInCatalogue(): Catalogue {
  const models = defaultModels.map(({ prices, deadlineMs, input: _standard, ...model }) => ({
    ...model,
    prices: prices.flatMap(priceAsFileRows),
    deadlineSeconds: deadlineMs / 1000,
  }));
  const { catalogue } = resolveCatalogue({ models });
  if (catalogue === undefined) throw new Error('the built-in catalogue is invalid');
  return catalogue;
}

type Parsed = { readonly data?: unknown; readonly problems: readonly FileProblem[] };

const [maxFileCharacters, maxDepth, maxProblems] = [1024 * 1024, 32, 200];

function configError(path: string, problems: readonly FileProblem[]): ConfigError {
  const fields = firstOfEachPath(problems.map((one) => ({ path: fieldPath(one.path), message: one.message })));
  const lines = fields.slice(0, maxProblems).map((one) => `${path}: ${describeFieldError(one)}`);
  return new ConfigError(
    fields.length > maxProblems ? [...lines, `${path}: ${fields.length - maxProblems} more`] : lines,
  );
}

function readWholeFile(path: string): string {
  return readFileSync(path, 'utf8');
}

/** Valid JSON is not parsed as YAML, which rejects duplicate keys. */
function parsedFile(readText: () => string): Parsed {
  let text = '';
  try {
    text = readText();
  } catch (error) {
    return failedWith(`cannot be read (${errorCode(error) ?? 'unknown'})`);
  }
  if (text.length > maxFileCharacters) return failedWith(`must be at most ${maxFileCharacters} characters`);
  try {
    return bounded(JSON.parse(text));
  } catch {
    return parsedYaml(text);
  }
}

function parsedYaml(text: string): Parsed {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const problems = [...document.errors, ...document.warnings];
    return problems.length > 0
      ? failedWith(...problems.map((problem) => describeYamlError(problem, lines)))
      : bounded(document.toJS());
  } catch {
    // The parser overflows where brackets nest by thousands, and refuses aliases that lead nowhere or multiply.
    return failedWith('is no usable YAML: it is nested too deeply, or an alias in it has no anchor');
  }
}

function bounded(data: unknown): Parsed {
  return isDeep(data) ? failedWith(`must not be nested deeper than ${maxDepth} levels`) : { data, problems: [] };
}

function failedWith(...messages: readonly string[]): Parsed {
  return { problems: messages.map((message) => ({ path: [], message })) };
}

/** Messages with these codes contain no text of the file; of others only the code is shown. */
const codesWithMessage: readonly YAMLError['code'][] = ['BAD_INDENT', 'MISSING_CHAR', 'DUPLICATE_KEY', 'TAB_AS_INDENT'];

function describeYamlError({ code, message, pos }: YAMLError, lines: LineCounter): string {
  const { line, col } = lines.linePos(pos[0]);
  const what = codesWithMessage.includes(code) ? message : code.toLowerCase().replaceAll('_', ' ');
  return `line ${line}, column ${col}: no valid YAML: ${what}`;
}

/** Also true for an alias that contains itself. */
function isDeep(data: unknown, levels = maxDepth): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return levels === 0 || Object.values(data).some((inner) => isDeep(inner, levels - 1));
}

function referencedFile(kind: 'workflow' | 'http', { data, problems }: Parsed): ReferencedFile {
  if (problems[0] !== undefined) return { problem: `this file ${problems[0].message}` };
  if (kind === 'workflow') return { data, problem: workflowProblem(data) };
  const { file, problems: found } = parseProviderFile(data);
  if (file !== undefined) return { data, ...file };
  const messages = found.map(({ path, message }) => `${fieldPath(path)}: ${message}`);
  return { problem: `this file is invalid: ${messages.join('; ')}` };
}

function workflowProblem(data: unknown): string | undefined {
  const nodes = fieldPairsOrNone(data).map(([, node]) => node);
  if (nodes.length > 0 && nodes.every((node) => typeof fieldOrUndefined(node, 'class_type') === 'string')) {
    const [problem] = placeholderProblems(data);
    return problem === undefined ? undefined : `this file is wrong in a placeholder: ${problem}`;
  }
  const isEditors = Array.isArray(fieldOrUndefined(data, 'nodes'));
  return `this file must be a map of nodes, each with its class_type${isEditors ? '; export the workflow for the API' : ''}`;
}

function secretProblem(read: () => string): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof SetupError) return error.message;
    throw error;
  }
}
