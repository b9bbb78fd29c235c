import { isObject, type JsonObject, type JsonValue } from '../../platform/text/json.ts';
import {
  jsonObjectIn,
  type CreateRules,
  type AnswerOrError,
  storableText,
  unprovenStatuses,
  type VendorError,
} from '../classify-upstream-answers.ts';
import type { Cost, UpstreamErrorReason } from '../provider-contract.ts';
import type { Expression } from '../../catalogue/providers/jsonata-expression.ts';
import type { ErrorRule, ProviderFile } from '../../catalogue/providers/provider-file-schema.ts';
import { type ExpressionReader, textOf } from './evaluate-expressions-by-priority.ts';

// Reads answers as a file describes. The common rules in ../classify-upstream-answers.ts decide what they prove.

type Reading = { readonly file: ProviderFile; readonly reader: ExpressionReader };

/** Evaluates the expressions of this answer first, because the common rules are synchronous. */
export async function rulesForCreateAnswer(
  { file, reader }: Reading,
  reply: AnswerOrError,
  known: JsonObject,
): Promise<CreateRules> {
  const data = answerData(reply, known);
  const { create } = file;
  const isAccepted = create.accepted === undefined || (await reader.flag('create.accepted', create.accepted, data));
  const job = isAccepted ? await jobIn(reader, 'create', create, data) : undefined;
  const isRefused = await reader.flag('create.refused', create.refused, data);
  const error = (await vendorError({ file, reader }, data)) ?? (isRefused ? {} : undefined);
  return {
    jobOf: () => job,
    errorOf: () => error,
    classify: ({ status, code, message, detail }) => {
      const isClientError = status >= 400 && status < 500 && !unprovenStatuses.has(status);
      if (!isRefused && !isClientError) return undefined;
      const rule = ruleFor(file.errors, { status, code, message });
      if (rule === undefined && isClientError) return undefined;
      const kind = rule?.kind ?? 'upstream';
      if (kind === 'unknown') return { kind, detail };
      if (kind === 'busy' || kind === 'overloaded' || kind === 'operator')
        return { kind: 'not_accepted', reason: kind, detail };
      return { kind: 'refused', error: { kind, ...(code !== undefined && { code }), detail } };
    },
  };
}

export function answerData(reply: AnswerOrError, known: JsonObject): JsonObject {
  if ('error' in reply) return known;
  const body = jsonObjectIn(reply.answer);
  return { ...known, status: reply.answer.status, ...(body !== undefined && { body }) };
}

type FindFields = JobFields & { readonly complete?: Expression | undefined };
type JobFields = { readonly id: Expression; readonly handle?: Expression | undefined };

async function jobIn(reader: ExpressionReader, field: string, { id, handle }: JobFields, data: JsonObject) {
  if (data['body'] === undefined) return undefined;
  const found = await reader.text(`${field}.id`, id, data);
  if (found === undefined) return undefined;
  const jobHandle = await reader.value(`${field}.handle`, handle, data);
  if (isObject(jobHandle)) return { id: found, handle: jobHandle };
  return handle === undefined ? { id: found } : undefined;
}

/** Returns why a job failed. A temporary error of a create counts as `upstream` when it ends a job. */
export async function upstreamErrorInAnswer(reading: Reading, data: JsonObject): Promise<UpstreamErrorReason> {
  const { code, message = '' } = (await vendorError(reading, data)) ?? {};
  const status = data['status'] as number; // `answerData` adds it
  const { kind = 'upstream' } = ruleFor(reading.file.errors, { status, code, message }) ?? {};
  const isOfJob = kind === 'content' || kind === 'image' || kind === 'input';
  return { kind: isOfJob ? kind : 'upstream', ...(code !== undefined && { code }), detail: storableText(message) };
}

async function vendorError({ file, reader }: Reading, data: JsonObject): Promise<VendorError | undefined> {
  if (data['body'] === undefined) return undefined;
  const code = await reader.text('error.code', file.error.code, data);
  const words = await reader.value('error.message', file.error.message, data);
  const message = textOf(words) ?? (words === undefined || words === null ? undefined : JSON.stringify(words));
  if (code === undefined && message === undefined) return undefined;
  return { ...(code !== undefined && { code: storableText(code, 100) }), ...(message !== undefined && { message }) };
}

type VendorAnswer = {
  readonly status: number;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
};

const maxSearched = 1024;

function ruleFor(rules: readonly ErrorRule[], { status, code, message = '' }: VendorAnswer): ErrorRule | undefined {
  const words = message.slice(0, maxSearched).toLowerCase();
  return rules.find(
    (rule) =>
      (rule.status === undefined || rule.status === status) &&
      (rule.code === undefined || isCode(rule.code, code)) &&
      (rule.contains === undefined || words.includes(rule.contains.toLowerCase())),
  );
}

function isCode(pattern: string, code = ''): boolean {
  return pattern.endsWith('*') ? code.startsWith(pattern.slice(0, -1)) : code === pattern;
}

export async function costIn({ file, reader }: Reading, data: JsonObject): Promise<{ readonly cost?: Cost }> {
  if (file.cost === undefined) return {};
  const stated = await reader.text('cost.amount', file.cost.amount, data);
  const micros = Math.round(Number(stated ?? Number.NaN) * 1_000_000);
  if (!Number.isSafeInteger(micros) || micros < 0) return {};
  return { cost: { micros, currency: file.cost.currency, basis: 'reported' } };
}

/** Returns the jobs in an answer that may be the lost one; undefined if the answer cannot be read. */
export async function foundJobsIn(reader: ExpressionReader, find: FindFields, data: JsonObject) {
  if (find.complete !== undefined && !(await reader.flag('find.complete', find.complete, data))) return undefined;
  const found = await reader.outcome('find.id', find.id, data);
  if (found === undefined) return undefined;
  const ids = (Array.isArray(found.value) ? found.value : [found.value]).map((id: JsonValue | undefined) => textOf(id));
  const handle = await reader.value('find.handle', find.handle, data);
  return ids.filter((id) => id !== undefined).map((id) => ({ id, ...(isObject(handle) && { handle }) }));
}
