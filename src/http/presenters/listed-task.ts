import { z } from 'zod';
import type { Task } from '../../domain/task.ts';
import type { ListedTask } from '../../stores/task-list.ts';
import type { Maker } from '../../stores/task-maker.ts';
import { unixMs } from '../fields.ts';
import type { HttpDeps } from '../http-deps.ts';
import { presentTask, taskRecordSchema } from './task.ts';
import { view } from './view.ts';

// What lists and the timeline say of a task beside its record, which is also the body of callbacks and so stays as it is.

export const makerSchema = z
  .strictObject({
    kind: z.enum(['key', 'person']),
    id: z.string(),
    name: z.string().nullable().meta({
      description:
        'The name of the key, or the e-mail address of the person; `erased user` for a person who was erased.',
    }),
  })
  .nullable()
  .meta({ description: 'Who created the task; null for tasks of releases that did not keep it.' });

export const posterUrlSchema = z
  .url()
  .nullable()
  .meta({ description: 'A still of the video, as a signed link; null while there is none.' });

export const contentDeleteTimeSchema = unixMs.nullable().meta({
  description:
    'When its prompt, images and video were deleted, on request or after their retention; null if they were not.',
});

export const listedTaskSchema = taskRecordSchema
  .extend({ createdBy: makerSchema, posterUrl: posterUrlSchema, contentDeleteTime: contentDeleteTimeSchema })
  .meta({ id: 'ListedTask' });

/** Signs links to media. */
export type LinkStore = { readonly link: (key: string) => string };

type Presenting = Pick<HttpDeps, 'progressOf'> & { readonly resultStore: LinkStore };

export async function presentListedTask(deps: Presenting, task: ListedTask) {
  const record = await presentTask(deps, task);
  return view(listedTaskSchema, {
    ...record,
    createdBy: presentMaker(task.createdBy),
    posterUrl: posterUrlOf(deps, task),
    contentDeleteTime: task.contentDeletedAt,
  });
}

export function presentMaker(maker: Maker | undefined) {
  return maker === undefined ? null : { kind: maker.kind, id: maker.id, name: maker.name };
}

/** A fresh link to the poster; null until success, and again once the media is deleted. */
export function posterUrlOf({ resultStore }: { readonly resultStore: LinkStore }, task: Task): string | null {
  if (task.result === undefined || task.mediaDeletedAt !== undefined) return null;
  return resultStore.link(task.result.posterKey);
}
