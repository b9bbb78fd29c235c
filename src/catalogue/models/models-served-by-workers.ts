import type { Catalogue, CatalogueModel } from '../file/catalogue-schema-and-types.ts';

// A model is sold unless workers of its queue run that all cannot generate it. Workers refuse a file whose secrets they lack, which an API process cannot check.

/** `generation` is on machines of ours, `generation-remote` follows upstreams. */
export const generationQueues = ['generation', 'generation-remote'] as const;
export type GenerationQueue = (typeof generationQueues)[number];

/** The models that a live worker can generate from one queue. */
export type WorkerReport = {
  readonly workerId: string;
  readonly queue: GenerationQueue;
  /** The models of the catalogue that it has in force. */
  readonly models: readonly string[];
  /** The reason why it refuses the file on disk; undefined if it does not. */
  readonly refusal: string | undefined;
};

export function generationQueueOf({ isRemote }: Pick<CatalogueModel, 'isRemote'>): GenerationQueue {
  return isRemote ? 'generation-remote' : 'generation';
}

/** False while workers of the model's queue are live and none of them has it in force. Without a live worker, tasks wait for one. */
export function mayBeSold(
  model: Pick<CatalogueModel, 'model' | 'isRemote'>,
  reports: readonly WorkerReport[],
): boolean {
  const ofQueue = reports.filter(({ queue }) => queue === generationQueueOf(model));
  return ofQueue.length === 0 || ofQueue.some(({ models }) => models.includes(model.model));
}

export function unservedModels({ models }: Pick<Catalogue, 'models'>, reports: readonly WorkerReport[]): string[] {
  return [...models.values()].filter((model) => !mayBeSold(model, reports)).map(({ model }) => model);
}
