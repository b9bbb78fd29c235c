import type { Dialect } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import type { CallbackFormatter } from '../../tasks/callbacks/post-callback.ts';
import type { TaskRecord } from '../../tasks/public-record.ts';
import {
  kieCallbackBody,
  kieCallbackHeaders,
  type KieCreatedTask,
  type KieRecord,
  presentKieTask,
} from './kie/kie-record-and-callback.ts';
import type { TranslateRequest } from '../../tasks/accept/parse-task-request.ts';
import { hintIfKieRequest, translateKieRequest, findUnusedKieFields } from './kie/kie-request.ts';

export type CreatedTask = { readonly taskId: string; readonly creditsCharged: number };

/** Translates at the edge: all other code uses the native spelling. */
export type KeyDialectAdapter = CallbackFormatter & {
  readonly taskRequest: TranslateRequest;
  /** The paths of the fields of an accepted request that changed nothing. */
  readonly unusedFields: (body: Readonly<Record<string, unknown>>, models: ModelsByName) => readonly string[];
  readonly createdTask: (created: CreatedTask) => CreatedTask | KieCreatedTask;
  readonly taskRecord: (record: TaskRecord, models: ModelsByName) => TaskRecord | KieRecord;
  /** The error for an unknown taskId; undefined for a 404. */
  readonly unknownTask: FieldError | undefined;
};

const native: KeyDialectAdapter = {
  taskRequest: (body, models) => ({ ours: body, hint: () => hintIfKieRequest(body, models) }),
  // Unknown fields are refused.
  unusedFields: () => [],
  createdTask: (created) => created,
  taskRecord: (record) => record,
  unknownTask: undefined,
  callbackBody: (record) => JSON.stringify({ code: 200, msg: 'success', data: record }),
  callbackHeaders: () => ({}),
};

/** Documented in docs/dialect-kie.md. */
const kie: KeyDialectAdapter = {
  taskRequest: translateKieRequest,
  unusedFields: findUnusedKieFields,
  createdTask: ({ taskId }) => ({ taskId, recordId: taskId }),
  taskRecord: presentKieTask,
  // kie.ai's clients detect an unknown task by this status and message.
  unknownTask: { path: 'taskId', message: 'recordInfo is null' },
  callbackBody: kieCallbackBody,
  callbackHeaders: kieCallbackHeaders,
};

const adapters: Readonly<Record<Dialect, KeyDialectAdapter>> = { native, kie };

export function dialectAdapter(dialect: Dialect): KeyDialectAdapter {
  return adapters[dialect];
}
