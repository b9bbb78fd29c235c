import { z } from 'zod';
import type { WithCatalogueGetter } from '../../../catalogue/file/catalogue-schema-and-types.ts';
import { defineEndpoint, type DepsOfAll } from '../../core/define-endpoint.ts';
import { oneOf } from '../../core/request-fields.ts';
import type { LinkSigner } from '../../tasks/task-view.ts';
import { strictQuery, textParameter, wholeNumberParameter } from '../../core/query-parameters.ts';
import { signVideoAndLastFrameLinks } from '../../../media/store/signed-link.ts';
import { modelNameFromAlias } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import { readNumberedPage } from '../../../tasks/list/numbered-task-pages.ts';
import { taskRecord } from '../../../tasks/public-record.ts';
import type { Task } from '../../../catalogue/tasks/task.ts';
import type { ApiShape } from '../shape.ts';
import { createVideoSpec, createVideo, type CreateVideoDeps, replayedField } from '../create-video.ts';
import {
  type ReadTaskDeps,
  type RemoveDeps,
  cancelOrDeleteVideo,
  readUndeletedAndMarkRead,
} from '../read-send-and-delete-video.ts';
import { arkErrorShape as shape } from './ark-error.ts';
import { arkCreateBody, readArkRequest } from './ark-request.ts';
import { arkTaskSchema, presentArkTask, statesOfArkStatus, arkStatuses } from './ark-task.ts';

const tasks = '/api/v3/contents/generations/tasks';

const create = defineEndpoint({
  operationId: 'arkCreateTask',
  shape,
  route: `POST ${tasks}`,
  ...createVideoSpec,
  summary: 'Create a task',
  description: 'Options can be part of the text, as in `--ratio 16:9 --dur 5`. `execution_expires_after` is ignored.',
  body: arkCreateBody,
  data: z.strictObject({ id: z.string(), replayed: replayedField }),
  handler: async (call, deps: CreateVideoDeps & WithCatalogueGetter) => {
    const read = readArkRequest(call.input, deps.catalogue().models);
    const { record, replayed } = await createVideo(call, deps, { shape: shape.name, ...read });
    return { id: record.taskId, ...replayed };
  },
});

const retrieve = defineEndpoint({
  operationId: 'arkGetTask',
  shape,
  route: `GET ${tasks}/{id}`,
  scope: 'tasks:read',
  summary: 'Get a task',
  data: arkTaskSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, params }, deps: ReadTaskDeps & ViewDeps) =>
    present(deps, await readUndeletedAndMarkRead(deps, caller, params['id'])),
});

type ViewDeps = WithCatalogueGetter & { readonly resultStore: LinkSigner };

/** The shape has no progress, so none is read from the engine. */
function present({ resultStore, catalogue }: ViewDeps, task: Task) {
  return presentArkTask(taskRecord(task, 0, signVideoAndLastFrameLinks(resultStore, task)), catalogue().models);
}

/** The parameter may be repeated. */
const taskIds = z.union([z.string(), z.array(z.string()).max(100)]).transform((ids) => [ids].flat());

const list = defineEndpoint({
  operationId: 'arkListTasks',
  shape,
  route: `GET ${tasks}`,
  scope: 'tasks:read',
  summary: 'List tasks',
  description: 'Tasks of the last seven days, newest first.',
  query: strictQuery({
    page_num: wholeNumberParameter(1, 500).default(1),
    page_size: wholeNumberParameter(1, 500).default(20),
    'filter.status': oneOf(arkStatuses).optional(),
    'filter.task_ids': taskIds.optional(),
    'filter.model': textParameter('must be the name of a model').max(100).optional(),
  }),
  data: z.strictObject({ total: z.int().nonnegative(), items: z.array(arkTaskSchema) }),
  handler: async ({ caller: { accountId, by }, query }, deps: ReadTaskDeps & ViewDeps) => {
    const { page_num: page, page_size: size, 'filter.status': status, 'filter.model': model } = query;
    const { total, tasks: rows } = await readNumberedPage(deps.db, {
      accountId,
      page,
      size,
      states: statesOfArkStatus(status),
      model: model && modelNameFromAlias(deps.catalogue().models, model),
      taskIds: query['filter.task_ids'],
    });
    await deps.seenTasks.record(by, rows);
    return { total, items: rows.map((task) => present(deps, task)) };
  },
});

const remove = defineEndpoint({
  operationId: 'arkDeleteTask',
  shape,
  route: `DELETE ${tasks}/{id}`,
  // Suspended accounts may cancel, too, so it lacks `refusesSuspended`.
  scope: 'tasks:write',
  summary: 'Cancel or delete a task',
  description:
    'Cancels and refunds an unfinished task; a repeat within a minute changes nothing. Deletes the content of any other (scope ' +
    '`content:delete`).',
  data: z.strictObject({}),
  failures: ['task_not_found'],
  handler: async ({ caller, params }, deps: ReadTaskDeps & RemoveDeps) => {
    const { taskId } = await readUndeletedAndMarkRead(deps, caller, params['id']);
    await cancelOrDeleteVideo(deps, caller, taskId);
    return {};
  },
});

const endpoints = [create, retrieve, list, remove];

export const arkShape: ApiShape<DepsOfAll<(typeof endpoints)[number]>> = {
  ...shape,
  description: 'Clients of BytePlus ModelArk and Volcengine Ark work with the base URL `/api/v3` of this service.',
  basePath: '/api/v3',
  operations: /^\/contents\/generations\/tasks(?:\/|$)/,
  paths: /^\/api\/v3(?:\/|$)/,
  endpoints,
  callbackBody: (record, models) => JSON.stringify(presentArkTask(record, models)),
};
