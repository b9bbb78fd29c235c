import { join, resolve } from 'node:path';
import { z } from 'zod';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { readCatalogueOrThrow } from '../../catalogue/file/read-catalogue-file.ts';
import { moderationHookShapes, hookErrorChoices } from '../../catalogue/file/moderation-schema.ts';
import { ConfigError, messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import { parseRate, millisecondsOfUnit } from '../../platform/timing/parse-rate-and-rate-left.ts';
import { parseStoreLocation, type StoreLocation } from '../../media/store/store-location.ts';

// Kinds of settings. Each error message states what is allowed.

export const anyText = z.string();

export const zeroOrOne = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1');

export const moderationHookShape = z.enum(moderationHookShapes, {
  error: `must be ${moderationHookShapes.join(' or ')}`,
});
export const moderationHookOnError = z.enum(hookErrorChoices, { error: `must be ${hookErrorChoices.join(' or ')}` });

export const onOrOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on');

export const plainName = z
  .string()
  .regex(/^[\w.-]{1,100}$/, { error: 'must be 1 to 100 letters, digits, dots, dashes or underscores' });

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
}

/** Reports the message of a parser that throws. */
export function parsedBy<T>(parse: (text: string) => T) {
  return anyText.transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
      return z.NEVER;
    }
  });
}

export const daysAsMs = wholeNumber(1, 36_500).transform((count) => count * dayMs);
export const secondsAsMs = (max: number) => wholeNumber(1, max).transform((count) => count * 1000);

export const rate = parsedBy(parseRate);

export function readCatalogueSetting(file: string, context: z.RefinementCtx) {
  const path = resolve(file);
  try {
    return { path, catalogue: readCatalogueOrThrow({ path }) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const message of error.problems) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
}

const maxDelayMs = 5 * 60_000;

/** `500ms`, `5s`, `1m` or `0`, in milliseconds. */
export function parseDelay(text: string): number {
  if (text === '0') return 0;
  const [, amount, unit = ''] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  const ms = Number(amount) * (millisecondsOfUnit[unit] ?? Number.NaN);
  if (!(ms <= maxDelayMs)) throw new Error('must be a duration of up to 5 minutes, such as 5s or 500ms, or 0');
  return ms;
}

/** Holds the variable and the default of each setting. */
export const settingRegistry = z.registry<{ readonly variable: string; readonly defaultText?: string | undefined }>();

/** A setting, which is read from `variable`; `defaultText` is its default, as written in the environment. */
export function declareSetting<T extends z.ZodType<unknown, string>>(variable: string, kind: T): z.ZodOptional<T>;
export function declareSetting<T extends z.ZodType<unknown, string>>(
  variable: string,
  kind: T,
  defaultText: string,
): z.ZodPipe<z.ZodDefault<z.ZodString>, T>;
export function declareSetting(variable: string, kind: z.ZodType<unknown, string>, defaultText?: string) {
  const field = defaultText === undefined ? kind.optional() : anyText.default(defaultText).pipe(kind);
  settingRegistry.add(field, { variable, defaultText });
  return field;
}

export const leastSecretLength = 32;

export function parseSecrets(text: string): readonly string[] {
  const secrets = text.split(/[\s,]+/).filter((secret) => secret !== '');
  if (secrets.length > 0 && secrets.every((secret) => secret.length >= leastSecretLength)) return secrets;
  throw new Error(`must be secrets of at least ${leastSecretLength} characters each, separated by commas`);
}

export const toAbsolutePath = (path: string) => resolve(path);
export const videogenSubfolderOf = (path: string) => join(path, 'videogen');
export const storeLocation = parsedBy((text): StoreLocation => {
  const location = parseStoreLocation(text);
  return location.kind === 'folder' ? { ...location, path: toAbsolutePath(location.path) } : location;
});
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
export const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, ''));
const isLoopback = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
export const issuerUrl = httpUrl.refine((url) => url.startsWith('https:') || isLoopback(new URL(url)), {
  error: 'must be https, unless it is on this machine',
});
export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
export const longSecret = anyText.min(leastSecretLength, {
  error: `must be at least ${leastSecretLength} characters of randomness`,
});
/** Messages repeat no part of a key. */
export const stripeKey = anyText.regex(/^(?:sk|rk)_(?:test|live)_\w{8,250}$/, {
  error: 'must be a secret or restricted key of Stripe, such as sk_test_…',
});
export const stripeWebhookSecret = anyText.regex(/^whsec_\S{8,250}$/, {
  error: "must be the signing secret of Stripe's event destination, whsec_…",
});
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export const logLevelName = z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` });
