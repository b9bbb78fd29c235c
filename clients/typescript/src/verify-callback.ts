import type { TaskRecord } from './contract.ts';
import { VideogenError } from './videogen-error.ts';

export type CallbackToVerify = {
  /** The raw body. A body that was parsed and serialized again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…`; several during a rotation. */
  readonly secrets: string | readonly string[];
  /** The tolerated difference of clocks, in seconds; by default five minutes. */
  readonly toleranceSeconds?: number | undefined;
  /** Unix milliseconds; for tests. */
  readonly now?: (() => number) | undefined;
};

export type VerifiedCallback = {
  /** The same at every attempt. Ignore one that you have processed. */
  readonly webhookId: string;
  /** The task's record, as recordInfo returns it. */
  readonly record: TaskRecord;
};

const defaultToleranceSeconds = 300;

/** More than a rotation needs. It bounds the work that a forged header can cause. */
const maxSignatures = 16;

/**
 * Verifies that one of the secrets signed the callback recently (Standard Webhooks), and returns it. Throws VideogenError
 * `bad_callback` otherwise, and a TypeError for an invalid secret. WebCrypto compares in constant time.
 */
export async function verifyCallback(callback: CallbackToVerify): Promise<VerifiedCallback> {
  const { body, headers, secrets, now = Date.now, toleranceSeconds = defaultToleranceSeconds } = callback;
  const keys = await Promise.all([secrets].flat().map(keyOf));
  const webhookId = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  checkTimestamp(timestamp, now() / 1000, toleranceSeconds);
  const content = joined(`${webhookId}.${timestamp}.`, typeof body === 'string' ? utf8(body) : body);
  const signatures = signaturesOf(header(headers, 'webhook-signature'));
  const pairs = keys.flatMap((key) => signatures.map((signature) => ({ key, signature })));
  const verdicts = await Promise.all(
    pairs.map(({ key, signature }) => crypto.subtle.verify('HMAC', key, signature, content)),
  );
  if (!verdicts.includes(true)) throw bad('no signature of it is by a known secret');
  return { webhookId, record: recordOf(typeof body === 'string' ? body : new TextDecoder().decode(body)) };
}

function checkTimestamp(timestamp: string, nowSeconds: number, toleranceSeconds: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) throw bad('its webhook-timestamp is no number of seconds');
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds)
    throw bad('its webhook-timestamp is too far from now');
}

/** The standard requires that signatures of other versions are ignored. */
function signaturesOf(value: string): readonly Uint8Array<ArrayBuffer>[] {
  return value
    .split(' ')
    .slice(0, maxSignatures)
    .filter((one) => one.startsWith('v1,'))
    .flatMap((one) => bytesOf(one.slice('v1,'.length)) ?? []);
}

/**
 * Derived from `importKey`, because the types of some runtimes lack the name
 * CryptoKey.
 */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

async function keyOf(secret: string): Promise<HmacKey> {
  const bytes = secret.startsWith('whsec_') ? bytesOf(secret.slice('whsec_'.length)) : undefined;
  // The message must not contain the secret. An empty key would accept any forged signature.
  if (bytes === undefined || bytes.length < 24) throw new TypeError('a callback secret is whsec_ and base64');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function header(headers: CallbackToVerify['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : valueIn(headers, name);
  if (typeof value !== 'string' || value === '') throw bad(`it has no ${name}, or several`);
  return value;
}

/** Most frameworks, but not all, pass the names of headers in lower case. */
function valueIn(headers: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function joined(head: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = utf8(head);
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  return content;
}

function recordOf(body: string): TaskRecord {
  // The verified signature proves that the service wrote this body, and it writes only its contract.
  const { data } = JSON.parse(body) as { readonly data: TaskRecord };
  return data;
}

function bad(reason: string): VideogenError {
  return new VideogenError('bad_callback', `the callback cannot be trusted: ${reason}`);
}
