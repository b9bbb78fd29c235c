import type { TaskRecord } from '../../tasks/public-record.ts';
import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import type { Endpoint } from '../core/define-endpoint.ts';
import type { ErrorShape } from '../core/endpoint-spec.ts';
import type { CallbackToSign } from '../../tasks/callbacks/post-callback.ts';

/** Another API whose clients can use this service by changing their base URL. Each has a folder here. */
export type ApiShape<Deps = never> = ErrorShape & {
  /** Introduces its section in the reference. */
  readonly description: string;
  /** Its base URL is this path of the service. */
  readonly basePath: string;
  /** The paths of its operations below the base URL. */
  readonly operations: RegExp;
  /** The paths that get its errors, also those without an endpoint. */
  readonly paths: RegExp;
  /** Operations of the API that get a 501, as `METHOD /path`. They are not in the reference. */
  readonly notOffered?: RegExp;
  readonly endpoints: readonly Endpoint<Deps>[];
  /** The body of the callback of a task that was created through this API. */
  readonly callbackBody: (record: TaskRecord, models: ModelsByName) => string;
  /** Headers of that callback, added to our own. */
  readonly callbackHeaders?: (callback: CallbackToSign) => Readonly<Record<string, string>>;
};
