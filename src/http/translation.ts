import type { z } from 'zod';
import type { Dialect } from '../domain/dialect.ts';
import type { ModelCatalogue } from '../domain/models.ts';
import type { TaskRecord } from '../domain/task-record.ts';
import type { ParsedTaskRequest } from '../domain/task-request.ts';
import type { Envelope } from './envelope.ts';
import { HttpFailure } from './http-failure.ts';
import { kieHint } from './kie/kie-task-request.ts';
import { kieTranslation } from './kie/kie-translation.ts';

type Data = Envelope['data'];

/** What a callback in a dialect may be signed by, beside our own signature. Secrets: the current one first. */
export type SignedCallback = {
  readonly taskId: string;
  readonly timestampSeconds: number;
  readonly secrets: readonly string[];
};

/** What a request is judged by: the one parser, and the models with the names that the dialect has for them. */
export type RequestRules = {
  readonly parse: (body: unknown) => ParsedTaskRequest;
  readonly models: ModelCatalogue;
};

/** A create request after validation; `hint` is a further sentence for whoever reads the refusal. */
export type TranslatedRequest = ParsedTaskRequest & { readonly hint?: string | undefined };

/**
 * All that a dialect changes: requests are put into our words before they are validated, and answers into the client's
 * after they are made. Whatever lies between knows one language.
 */
export type Translation = {
  /** Validates a create request with `parse`; errors name the fields as the client wrote them. */
  readonly taskRequest: (body: Readonly<Record<string, unknown>>, rules: RequestRules) => TranslatedRequest;
  readonly createdTask: (created: { readonly taskId: string; readonly creditsCharged: number }) => Data;
  readonly taskRecord: (record: TaskRecord, models: ModelCatalogue) => Data;
  /** The refusal of a taskId that is not the caller's. */
  readonly noSuchTask: () => HttpFailure;
  /** The text of the callback of a task that has ended. */
  readonly callbackBody: (record: TaskRecord, models: ModelCatalogue) => string;
  /** Headers beside our own, which are always there. */
  readonly callbackHeaders: (callback: SignedCallback) => Readonly<Record<string, string>>;
  /** `data` of the operations that answer something else than they declare, by operationId. */
  readonly answers: Readonly<Record<string, z.ZodType>>;
};

const native: Translation = {
  taskRequest: (body, { parse, models }) => {
    const parsed = parse(body);
    return parsed.ok ? parsed : { ...parsed, hint: kieHint(body, models) };
  },
  createdTask: (created) => created,
  taskRecord: (record) => record,
  noSuchTask: () => new HttpFailure('no_such_task'),
  callbackBody: (record) => JSON.stringify({ code: 200, msg: 'success', data: record }),
  callbackHeaders: () => ({}),
  answers: {},
};

const translations: Readonly<Record<Dialect, Translation>> = { native, kie: kieTranslation };

export function translationOf(dialect: Dialect): Translation {
  return translations[dialect];
}
