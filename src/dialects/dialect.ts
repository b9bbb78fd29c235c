import type { Dialect } from '../domain/api-key.ts';
import type { FieldError } from '../domain/field-errors.ts';
import type { ModelCatalogue } from '../domain/models.ts';
import type { TaskRecord } from '../domain/task-record.ts';
import type { ParsedTaskRequest } from '../domain/task-request.ts';
import {
  kieCallbackBody,
  kieCallbackHeaders,
  type KieCreatedTask,
  type KieRecord,
  presentKieTask,
  type SignedCallback,
} from './kie-record.ts';
import { kieHint, parseKieTaskRequest, type RequestRules } from './kie-request.ts';

/** A create request after validation; `hint` is a further sentence for the reader of the refusal. */
export type DialectRequest = ParsedTaskRequest & { readonly hint?: string | undefined };

export type CreatedTask = { readonly taskId: string; readonly creditsCharged: number };

/** All that a dialect changes. Everything between the request and the answer knows one language. */
export type DialectAdapter = {
  /** Validates a create request; errors name the fields as the client wrote them. */
  readonly taskRequest: (body: Readonly<Record<string, unknown>>, rules: RequestRules) => DialectRequest;
  readonly createdTask: (created: CreatedTask) => CreatedTask | KieCreatedTask;
  readonly taskRecord: (record: TaskRecord, models: ModelCatalogue) => TaskRecord | KieRecord;
  /** How a taskId that is not the caller's is refused: 404, or 422 with this error and its message alone. */
  readonly unknownTask: FieldError | undefined;
  /** The text of the callback of a task that has ended. */
  readonly callbackBody: (record: TaskRecord, models: ModelCatalogue) => string;
  /** Headers beside our own, which are always there. */
  readonly callbackHeaders: (callback: SignedCallback) => Readonly<Record<string, string>>;
};

const native: DialectAdapter = {
  taskRequest: (body, { parse, models }) => {
    const parsed = parse(body);
    return parsed.ok ? parsed : { ...parsed, hint: kieHint(body, models) };
  },
  createdTask: (created) => created,
  taskRecord: (record) => record,
  unknownTask: undefined,
  callbackBody: (record) => JSON.stringify({ code: 200, msg: 'success', data: record }),
  callbackHeaders: () => ({}),
};

/** docs/dialect-kie.md documents it for clients. */
const kie: DialectAdapter = {
  taskRequest: parseKieTaskRequest,
  createdTask: ({ taskId }) => ({ taskId, recordId: taskId }),
  taskRecord: presentKieTask,
  // Its clients know an unknown task by this code and these words, and 422 is a true HTTP status for it as well.
  unknownTask: { path: 'taskId', message: 'recordInfo is null' },
  callbackBody: kieCallbackBody,
  callbackHeaders: kieCallbackHeaders,
};

const adapters: Readonly<Record<Dialect, DialectAdapter>> = { native, kie };

export function adapterOf(dialect: Dialect): DialectAdapter {
  return adapters[dialect];
}
