import type { JsonObject } from '../../platform/text/json.ts';
import { codedErrorIn, type CreateRules, storableText, storableUpstreamError } from '../classify-upstream-answers.ts';
import type { UpstreamErrorReason, NotAccepted } from '../provider-contract.ts';

// Ark's error codes. A code may be followed by a dot and a detail.

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
  // Another Videogen has the codes of its own API.
  content_rejected: 'content',
  image_unreachable: 'input',
  image_invalid: 'input',
  media_unreachable: 'input',
  media_invalid: 'input',
};

/** One code stands for a full queue and for a used-up plan; waiting does not help with the latter. */
const usedUp = /free trial|hour|week|month/i;

function meaningOf(code: string, message: string): Meaning | undefined {
  if (/Sensitive|RiskDetection/.test(code)) return 'content';
  if (code === 'QuotaExceeded' && usedUp.test(message)) return 'operator';
  const [head = ''] = code.split('.');
  return [code, head].flatMap((key) => (Object.hasOwn(meanings, key) ? [meanings[key]] : []))[0];
}

/** Reads the code only beside the status of a refusal, because a 5xx proves nothing. */
export const classifyRefusal: CreateRules['classify'] = ({ status, code = '', message = '', detail }) => {
  const meaning = refusals.has(status) ? meaningOf(code, message) : undefined;
  if (meaning === undefined) return undefined;
  if (meaning !== 'content' && meaning !== 'input') return { kind: 'not_accepted', reason: meaning, detail };
  return { kind: 'refused', error: { kind: meaning, ...aboutIn(code), code: storableText(code, 100), detail } };
};

/** The codes of content name the rejected part, such as `InputImageSensitiveContentDetected`. */
function aboutIn(code: string): Pick<UpstreamErrorReason, 'about'> {
  if (code.startsWith('InputText')) return { about: 'prompt' };
  if (code.startsWith('InputImage')) return { about: 'image' };
  if (code.startsWith('InputVideo')) return { about: 'video' };
  if (code.startsWith('InputAudio')) return { about: 'audio' };
  if (code.startsWith('OutputAudio')) return { about: 'sound' };
  return code.startsWith('Output') ? { about: 'output' } : {};
}

const refusals: ReadonlySet<number> = new Set([400, 401, 403, 404, 413, 422, 429]);

/** `word` is the state in the record, which is the code of a job that was cancelled or has expired. */
export function jobFailure(record: JsonObject, word: string): UpstreamErrorReason {
  const { code, message } = codedErrorIn(record) ?? { code: word, message: '' };
  const meaning = meaningOf(code, message);
  const kind = meaning === 'content' || meaning === 'input' ? meaning : 'upstream';
  return { ...storableUpstreamError(kind, code, message), ...(kind === 'content' && aboutIn(code)) };
}

/** Ark's own code, with the dot, or that of another Videogen; the 404 of a proxy proves nothing. */
export function isMissingAtArk(body: JsonObject, status: number): boolean {
  return status === 404 && /^(?:NotFound\.?|task_not_found)$/.test(codedErrorIn(body)?.code ?? '');
}
