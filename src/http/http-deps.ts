import type { Logger } from 'pino';
import type { ModelCatalogue } from '../domain/models.ts';
import type { ParsedTaskRequest } from '../domain/task-request.ts';
import type { Task } from '../domain/task.ts';
import type { ResultStore } from '../media/result-store.ts';
import type { Database } from '../stores/database.ts';
import type { TaskEnds } from './task-ends.ts';

/** What the HTTP layer needs of the rest; the API's front door puts it together. */
export type HttpDeps = {
  readonly db: Database;
  readonly models: ModelCatalogue;
  readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  readonly resultStore: ResultStore;
  /** Starts the workflow of an accepted task in the background; returns at once and never throws. */
  readonly startTask: (task: { readonly taskId: string; readonly accountId: string; readonly model: string }) => void;
  /** Takes back, in the background, a task that may exist although its client is told that it does not; never throws. */
  readonly withdraw: (task: { readonly taskId: string; readonly accountId: string }) => void;
  /** Progress of a live task, 0 to 100; bounded in time, never rejects. */
  readonly progressOf: (task: Task) => Promise<number>;
  /** Holds answers back until tasks end. */
  readonly taskEnds: TaskEnds;
  readonly log: Logger;
  /** Shown at `/metrics`; without it there is no such route. */
  readonly metrics?: { readonly contentType: string; metrics(): Promise<string> };
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Names of the parts that are away, none when everything is there; a database that answers by default. */
  readonly ready?: () => Promise<readonly string[]>;
  /** Holds every answer against the OpenAPI document, in tests; one that does not fit becomes a 500. */
  readonly checkAnswers?: boolean;
};
