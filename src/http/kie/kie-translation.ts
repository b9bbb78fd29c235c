import { HttpFailure } from '../http-failure.ts';
import type { Translation } from '../translation.ts';
import { kieCallbackBody, kieCallbackHeaders } from './kie-callback.ts';
import { kieCreatedSchema, kieRecord, kieRecordSchema } from './kie-record.ts';
import { parseKieTaskRequest } from './kie-task-request.ts';

/** The dialect `kie`, whole: what it maps to what is told in docs/dialect-kie.md. */
export const kieTranslation: Translation = {
  taskRequest: parseKieTaskRequest,
  createdTask: ({ taskId }) => ({ taskId, recordId: taskId }),
  taskRecord: kieRecord,
  // Its clients know an unknown task by this code and these words, and 422 is a true HTTP status for it as well.
  noSuchTask: () =>
    new HttpFailure('invalid_request', {
      msg: 'recordInfo is null',
      data: { errors: [{ path: 'taskId', message: 'recordInfo is null' }] },
    }),
  callbackBody: kieCallbackBody,
  callbackHeaders: kieCallbackHeaders,
  answers: { createTask: kieCreatedSchema.or(kieRecordSchema), recordInfo: kieRecordSchema },
};
