import type { ModelCatalogue } from '../src/domain/models.ts';

/** For a task whose model has since left the catalogue: it was paid for, so it is still tried. */
const defaultDeadlineMs = 30 * 60_000;

/** How long generation with a model may take from its first start. */
export function deadlineMsOf(models: ModelCatalogue, model: string): number {
  return models.get(model)?.deadlineMs ?? defaultDeadlineMs;
}
