import type { ModelCatalogue } from '../../catalogue/models/model.ts';
import type { TaskRecord } from '../public-record.ts';

/** How a callback of a dialect is written. */
export type CallbackFormat = {
  readonly callbackBody: (record: TaskRecord, models: ModelCatalogue) => string;
  /** Headers added to the native ones. */
  readonly callbackHeaders: (callback: SignedCallback) => Readonly<Record<string, string>>;
};

/** A callback that is signed now. */
export type SignedCallback = {
  readonly taskId: string;
  readonly timestampSeconds: number;
  /** The current secret first; never empty. */
  readonly secrets: readonly string[];
  readonly body: string;
};
