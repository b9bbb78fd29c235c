import { z } from 'zod';
import { type CreateRules, shownText } from '../answers.ts';
import type { Fault, JsonObject, NotAccepted } from '../contract.ts';

// What Ark's error codes mean. A code may be followed by a dot and what is wrong in particular.

const errorSchema = z.object({ code: z.string().min(1), message: z.string().catch('') });

/** The error in a body or in the record of a job; only Ark writes it so. */
export function errorOf(body: JsonObject): z.infer<typeof errorSchema> | undefined {
  return errorSchema.safeParse(body['error']).data;
}

type Meaning = Exclude<NotAccepted['reason'], 'unreachable'> | 'content' | 'input';

const meanings: Readonly<Record<string, Meaning>> = {
  ModelAccountRpmRateLimitExceeded: 'busy',
  ModelAccountTpmRateLimitExceeded: 'busy',
  AccountRateLimitExceeded: 'busy',
  RateLimitExceeded: 'busy',
  RequestBurstTooFast: 'busy',
  InflightBatchsizeExceeded: 'busy',
  QuotaExceeded: 'busy',
  ServerOverloaded: 'overloaded',
  ModelLoadingError: 'overloaded',
  'InvalidEndpoint.ClosedEndpoint': 'overloaded',
  AuthenticationError: 'operator',
  InvalidAccountStatus: 'operator',
  AccountOverdueError: 'operator',
  AccessDenied: 'operator',
  OperationDenied: 'operator',
  ModelNotOpen: 'operator',
  InvalidEndpoint: 'operator',
  InvalidEndpointOrModel: 'operator',
  SetLimitExceeded: 'operator',
  InvalidParameter: 'input',
  MissingParameter: 'input',
};

/** One code says that the queue is full, and that the account has used up what it bought; the latter does not pass by waiting. */
const usedUp = /free trial|hour|week|month/i;

function meaningOf(code: string, message: string): Meaning | undefined {
  if (/Sensitive|RiskDetection/.test(code)) return 'content';
  if (code === 'QuotaExceeded' && usedUp.test(message)) return 'operator';
  const [head = ''] = code.split('.');
  return [code, head].flatMap((key) => (Object.hasOwn(meanings, key) ? [meanings[key]] : []))[0];
}

/** Only what came with a refusal is one: a 5xx proves nothing, whatever it says. */
export const classifyRefusal: CreateRules['classify'] = ({ status, code = '', message = '', detail }) => {
  const meaning = refusals.has(status) ? meaningOf(code, message) : undefined;
  if (meaning === undefined) return undefined;
  if (meaning !== 'content' && meaning !== 'input') return { kind: 'not_accepted', reason: meaning, detail };
  return { kind: 'refused', fault: { kind: meaning, ...aboutIn(code), code: shownText(code, 100), detail } };
};

/** The codes of content say what was rejected, such as `InputImageSensitiveContentDetected`. */
function aboutIn(code: string): Pick<Fault, 'about'> {
  if (code.startsWith('InputText')) return { about: 'prompt' };
  if (code.startsWith('InputImage')) return { about: 'image' };
  return code.startsWith('Output') ? { about: 'output' } : {};
}

const refusals: ReadonlySet<number> = new Set([400, 401, 403, 404, 413, 422, 429]);

/** What a job failed of. `state` stands for the code of one that was cancelled or has expired. */
export function faultOfJob(record: JsonObject, state: string): Fault {
  const { code, message } = errorOf(record) ?? { code: state, message: '' };
  const meaning = meaningOf(code, message);
  const kind = meaning === 'content' || meaning === 'input' ? meaning : 'upstream';
  return { kind, ...(kind === 'content' && aboutIn(code)), code: shownText(code, 100), detail: shownText(message) };
}
