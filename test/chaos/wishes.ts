import type { Random } from './random.ts';
import { creditsPerSecond, hangingModel, patientModel } from './stack.ts';

/** A create request as a client makes it up; `faults` are what it makes the provider do, for the report. */
export type Request = {
  readonly body: { readonly model: string; readonly input: Record<string, unknown>; readonly callBackUrl?: string };
  /** What it costs; undefined when it breaks a rule and must be refused. */
  readonly charge: number | undefined;
  readonly fault: string | undefined;
  /** How the task must end: `success`, or the failCode that its prompt asks for. */
  readonly end: string;
};

type Kind = 'plain' | 'slow' | 'rendered' | 'reject' | 'crash' | 'hang' | 'invalid';

/** Most are cheap for the machine: what is tested is the bookkeeping, not the renderer. */
const kinds: readonly [Kind, ...Kind[]] = [
  'plain',
  ...Array<Kind>(10).fill('plain'),
  ...Array<Kind>(4).fill('slow'),
  ...Array<Kind>(2).fill('reject'),
  'rendered',
  'crash',
  'hang',
  'invalid',
];

/** One request; the nonce is the first word of its prompt. */
export function makeRequest(random: Random, nonce: string, callBackUrl: string): Request {
  const kind = random.pick(kinds);
  const model = kind === 'hang' ? hangingModel : patientModel;
  const duration = random.between(4, 6);
  const prompt = `${nonce} ${promptOf(kind, random)}`;
  const input = { prompt, duration, ...(kind === 'invalid' && { aspect_ratio: '1:1' }) };
  const body = { model, input, ...(random.chance(0.6) && { callBackUrl }) };
  const charge = kind === 'invalid' ? undefined : creditsPerSecond[model] * duration;
  const isFault = kind === 'reject' || kind === 'crash' || kind === 'hang' || kind === 'slow';
  return { body, charge, fault: isFault ? `provider: ${kind}` : undefined, end: ends[kind] ?? 'success' };
}

const ends: Partial<Record<Kind, string>> = { reject: 'content_rejected', crash: 'internal', hang: 'timeout' };

function promptOf(kind: Kind, random: Random): string {
  if (kind === 'plain' || kind === 'invalid') return '[[instant]]';
  if (kind === 'slow') return `[[instant]] [[slow ${random.between(1, 6)}s]]`;
  return kind === 'rendered' ? 'a lighthouse in the fog' : `[[${kind}]]`;
}
