import type { ShortfallPolicy } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { kindCreditsPerSecond, endlessWord, failingWord, type KindUpstream } from './kind-upstreams.ts';
import type { Random } from '../seeded-random.ts';
import {
  deliveredOf,
  dueFor,
  type Film,
  filmNames,
  priceOf,
  type ShortOrder,
  wordFor,
} from '../faults/short-results.ts';
import { creditsPerSecond, hangingModel, type ModelName, patientModel } from '../stack.ts';

/** A create request of a client. */
export type Request = {
  readonly body: { readonly model: string; readonly input: Record<string, unknown>; readonly callBackUrl?: string };
  /** Its price; undefined when it breaks a rule and must be refused. */
  readonly charge: number | undefined;
  /** The fault that it provokes, for the report. */
  readonly fault: string | undefined;
  /** The required end: `success`, or a failCode. */
  readonly end: string;
  /** Another end that is allowed because its upstream, or the network to it, fails all the time. */
  readonly otherEnd?: string | undefined;
  /** What its upstream makes, if it is another film than was ordered. */
  readonly shortOrder?: ShortOrder | undefined;
};

type Wanted = Omit<Request, 'body' | 'charge' | 'shortOrder'> & {
  readonly model: string;
  readonly creditsPerSecond: number;
  readonly words: string;
};

/** Most tasks of the preview provider are cheap for the machine: what is tested is the bookkeeping. */
const previewKinds: readonly [PreviewKind, ...PreviewKind[]] = [
  'plain',
  ...Array<PreviewKind>(8).fill('plain'),
  ...(['slow', 'slow', 'reject', 'rendered', 'crash', 'hang'] as const),
];
type PreviewKind = 'plain' | 'slow' | 'rendered' | 'reject' | 'crash' | 'hang';

/** Makes up requests: every fourth for the preview provider, the others for the upstreams in a shuffled order. */
export function createRequestMaker(
  random: Random,
  upstreams: readonly KindUpstream[],
): (nonce: string, callBackUrl: string) => Request {
  let deck: KindUpstream[] = [];
  let count = 0;
  return (nonce, callBackUrl) => {
    count += 1;
    if (deck.length === 0) deck = [...random.shuffled(upstreams)];
    const next = count % 4 === 0 ? undefined : deck.pop();
    if (next?.shortfall !== undefined) return shortRequest(next.name, next.shortfall, random, nonce, callBackUrl);
    const wanted = next === undefined ? preview(random.pick(previewKinds), random) : generatedBy(next, random);
    return requestFor(wanted, random, nonce, callBackUrl);
  };
}

/** The nonce is the first word of its prompt. */
function requestFor(wanted: Wanted, random: Random, nonce: string, callBackUrl: string): Request {
  const { model, creditsPerSecond: perSecond, words, ...expected } = wanted;
  const isInvalid = random.chance(0.05);
  const duration = random.between(4, 6);
  const input = { prompt: `${nonce} ${words}`, duration, ...(isInvalid && { aspect_ratio: '1:1' }) };
  const body = { model, input, ...(random.chance(0.6) && { callBackUrl }) };
  return { ...expected, body, charge: isInvalid ? undefined : perSecond * duration };
}

function shortRequest(
  model: string,
  policy: ShortfallPolicy,
  random: Random,
  nonce: string,
  callBackUrl: string,
): Request {
  const ordered: Film = {
    seconds: random.between(4, 6),
    hasSound: random.chance(0.7),
    isUpright: random.chance(0.25),
  };
  const film = random.pick(filmNames);
  const input = {
    prompt: `${nonce} ${wordFor(film)} is made`,
    duration: ordered.seconds,
    generateAudio: ordered.hasSound,
    ratio: ordered.isUpright ? '9:16' : '16:9',
  };
  const delivered = deliveredOf({ ordered, film });
  const due = dueFor(policy, ordered, delivered);
  return {
    body: { model, input, ...(random.chance(0.6) && { callBackUrl }) },
    charge: priceOf(ordered),
    // With `accept` a film that falls short costs as much as a whole one.
    fault: isWhole(ordered, delivered) ? undefined : `upstream: a film that is ${film}, shortfall: ${policy}`,
    end: due === undefined ? 'result_invalid' : 'success',
    shortOrder: { policy, ordered, film },
  };
}

const isWhole = (ordered: Film, delivered: Film) => dueFor('fail', ordered, delivered) !== undefined;

const ends: Partial<Record<PreviewKind, string>> = { reject: 'content_rejected', crash: 'internal', hang: 'timeout' };

function preview(kind: PreviewKind, random: Random): Wanted {
  const model: ModelName = kind === 'hang' ? hangingModel : patientModel;
  const fault = kind === 'plain' || kind === 'rendered' ? undefined : `preview: ${kind}`;
  const words = previewWords(kind, random);
  return { model, creditsPerSecond: creditsPerSecond[model], words, fault, end: ends[kind] ?? 'success' };
}

function previewWords(kind: PreviewKind, random: Random): string {
  if (kind === 'plain') return '[[instant]]';
  if (kind === 'slow') return `[[instant]] [[slow ${random.between(1, 6)}s]]`;
  return kind === 'rendered' ? 'a lighthouse in the fog' : `[[${kind}]]`;
}

/** A task must end as required if a lost job is found by its name; elsewhere it may be refunded. */
function generatedBy({ name, kind, isHasty }: KindUpstream, random: Random): Wanted {
  const common = { model: name, creditsPerSecond: kindCreditsPerSecond, fault: undefined };
  if (isHasty) {
    const ended = { end: 'timeout', otherEnd: 'provider_unavailable' };
    return { ...common, words: `an ${endlessWord} film`, fault: 'upstream: never ends', ...ended };
  }
  const isFailing = random.chance(0.15);
  const isSafe = kind.lostJobs === 'named' && kind.forgets !== true;
  return {
    ...common,
    words: isFailing ? `of a ${failingWord}` : `a film ${'very '.repeat(random.between(0, 3))}long`,
    end: isFailing ? 'provider_rejected' : 'success',
    otherEnd: isSafe ? undefined : 'provider_unavailable',
  };
}
