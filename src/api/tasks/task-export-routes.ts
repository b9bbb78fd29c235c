import type { TaskFilter } from '../../tasks/list/task-filter.ts';
import { type ListedTask, listTasks } from '../../tasks/list/task-list.ts';
import {
  aboutOperatorFilter,
  boundedOperatorFilterOf,
  operatorTaskFilterParameters,
  ownTaskFilterOf,
  ownTaskFilterParameters,
  type OperatorFilterDeps,
  type PromptSearchDeps,
} from './task-list-and-count-routes.ts';
import { streamCsvDownload, csvAnswerDeclaration, type CsvColumn, readPages } from '../core/csv-answer.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { strictQuery } from '../core/query-parameters.ts';
import type { Database } from '../../platform/database/database.ts';

const maxRows = 100_000;
const pageSize = 1_000;
const fileName = 'tasks.csv';

const exported =
  `Returns UTF-8 with a header line, newest task first, at most ${maxRows} tasks. Times are ISO 8601 in UTC. Text that a spreadsheet ` +
  "would read as a formula is prefixed with `'`.";

const exportTasks = defineEndpoint({
  operationId: 'exportTasks',
  route: 'GET /api/v1/jobs/exportTasks',
  scope: 'tasks:read',
  summary: "Export the account's tasks as CSV",
  description: exported,
  query: strictQuery(ownTaskFilterParameters),
  ...csvAnswerDeclaration,
  handler: ({ caller: { accountId }, query, ctx }, deps: WithDb & PromptSearchDeps) =>
    streamCsvDownload(ctx, fileName, columns, pagesOf(deps.db, ownTaskFilterOf(accountId, query, deps))),
});

const adminExport = defineEndpoint({
  operationId: 'adminExportTasks',
  route: 'GET /api/admin/v1/tasks/export',
  summary: 'Export tasks of all accounts as CSV',
  description: `${exported} ${aboutOperatorFilter}`,
  query: strictQuery(operatorTaskFilterParameters),
  ...csvAnswerDeclaration,
  handler: ({ query, ctx }, deps: WithDb & OperatorFilterDeps) =>
    streamCsvDownload(
      ctx,
      fileName,
      [...columns, ...columnsOfOperators],
      pagesOf(deps.db, boundedOperatorFilterOf(query, deps)),
    ),
});

type Column = CsvColumn<ListedTask>;

const columns: readonly Column[] = [
  ['taskId', ({ taskId }) => taskId],
  ['createTime', ({ createdAt }) => isoTime(createdAt)],
  ['completeTime', ({ completedAt }) => isoTime(completedAt)],
  ['state', ({ state }) => state],
  ['failCode', ({ failure }) => failure?.failCode],
  ['model', ({ param }) => param.model],
  ['prompt', ({ param }) => param.input.prompt],
  ['duration', ({ param }) => param.input.duration],
  ['resolution', ({ param }) => param.input.resolution],
  ['ratio', ({ param }) => param.input.ratio],
  ['priceName', ({ priceName }) => priceName],
  ['creditsCharged', ({ creditsCharged }) => creditsCharged],
  ['creditsRefunded', ({ creditsRefunded }) => creditsRefunded],
  ['createdByKind', ({ createdBy }) => createdBy?.kind],
  ['createdById', ({ createdBy }) => createdBy?.id],
  ['createdBy', ({ createdBy }) => createdBy?.name ?? undefined],
];

const columnsOfOperators: readonly Column[] = [
  ['accountId', ({ accountId }) => accountId],
  ['accountName', ({ accountName }) => accountName],
];

function isoTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function pagesOf(db: Database, filter: TaskFilter) {
  const read = (last?: ListedTask) => listTasks(db, { ...filter, after: last?.taskId, limit: pageSize });
  return readPages(read, { pageSize, maxRows });
}

export const taskExportEndpoints = [exportTasks];
export const operatorTaskExportEndpoints = [adminExport];
