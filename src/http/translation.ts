import type { Dialect } from '../domain/dialect.ts';
import type { TaskRecord } from '../domain/task-record.ts';
import type { ParsedTaskRequest } from '../domain/task-request.ts';
import { HttpFailure } from './http-failure.ts';
import type { KieCreatedTask, KieRecord } from './kie/kie-record.ts';
import { kieTranslation } from './kie/kie-translation.ts';

/** What createTask answers. */
export type CreatedTask = { readonly taskId: string; readonly creditsCharged: number };

/** What a callback in a dialect may be signed by, beside our own signature. Secrets: the current one first. */
export type SignedCallback = {
  readonly taskId: string;
  readonly timestampSeconds: number;
  readonly secrets: readonly string[];
};

/**
 * All that a dialect changes: requests are put into our words before they are validated, and answers into the client's
 * after they are made. Whatever lies between knows one language.
 */
export type Translation = {
  /** Validates a create request with `parse`; errors name the fields as the client wrote them. */
  readonly taskRequest: (
    body: Readonly<Record<string, unknown>>,
    parse: (body: unknown) => ParsedTaskRequest,
  ) => ParsedTaskRequest;
  readonly createdTask: (created: CreatedTask) => CreatedTask | KieCreatedTask;
  readonly taskRecord: (record: TaskRecord) => TaskRecord | KieRecord;
  /** The refusal of a taskId that is not the caller's. */
  readonly noSuchTask: () => HttpFailure;
  /** The text of the callback of a task that has ended. */
  readonly callbackBody: (record: TaskRecord) => string;
  /** Headers beside our own, which are always there. */
  readonly callbackHeaders: (callback: SignedCallback) => Readonly<Record<string, string>>;
};

const native: Translation = {
  taskRequest: (body, parse) => parse(body),
  createdTask: (created) => created,
  taskRecord: (record) => record,
  noSuchTask: () => new HttpFailure('no_such_task'),
  callbackBody: (record) => JSON.stringify({ code: 200, msg: 'success', data: record }),
  callbackHeaders: () => ({}),
};

const translations: Readonly<Record<Dialect, Translation>> = { native, kie: kieTranslation };

export function translationOf(dialect: Dialect): Translation {
  return translations[dialect];
}
