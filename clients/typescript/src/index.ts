// The public names of `videogen-client`.
export { type Client, type ClientOptions, createClient, type CreateOptions } from './create-client.ts';
export type { Clock } from './clock.ts';
export type * from './contract.ts';
export type { DownloadOptions } from './download.ts';
export type { GeneratedVideo, GenerateOptions } from './generate.ts';
export { newIdempotencyKey } from './idempotency-key.ts';
export type { CallOptions, ResponseInfo, Retry } from './transport.ts';
export type { UploadOptions } from './upload.ts';
export { type VerifiedCallback, type CallbackToVerify, verifyCallback } from './verify-callback.ts';
export { type FieldError, VideogenError, type VideogenErrorKind } from './videogen-error.ts';
export type { WaitOptions } from './wait-for-task.ts';
