import { failingWord, kindCreditsPerSecond } from './kind-upstreams.ts';
import { kinds as kindsOfProviders } from '../fakes/kinds.ts';
import type { Random } from './random.ts';
import { creditsPerSecond, hangingModel, hastyModel, type ModelName, paidModel, patientModel } from './stack.ts';
import { type MannerName, manners, mannerWord } from './upstream-manners.ts';

/** A create request as a client makes it up; `faults` are what it makes the provider do, for the report. */
export type Request = {
  readonly body: { readonly model: string; readonly input: Record<string, unknown>; readonly callBackUrl?: string };
  /** What it costs; undefined when it breaks a rule and must be refused. */
  readonly charge: number | undefined;
  readonly fault: string | undefined;
  /** How the task must end: `success`, or the failCode that its prompt asks for. */
  readonly end: string;
  /** How it may end as well when something was hurt after the provider had first told of the job's end. */
  readonly endIfHurt: string | undefined;
  /** How it may end as well because its upstream, or the way there, is hurt all the time. */
  readonly otherEnd?: string | undefined;
};

type Wanted = Omit<Request, 'body' | 'charge'> & {
  readonly model: string;
  readonly creditsPerSecond: number;
  readonly words: string;
};

/** Half of the tasks go to the preview provider, most of them cheap for the machine: what is tested is the bookkeeping. */
const kinds: readonly [Kind, ...Kind[]] = [
  'plain',
  ...Array<Kind>(8).fill('plain'),
  ...(['slow', 'slow', 'reject', 'rendered', 'crash', 'hang'] as const),
];
type Kind = 'plain' | 'slow' | 'rendered' | 'reject' | 'crash' | 'hang';

// The keys of an object literal that names each of them.
const mannerNames = Object.keys(manners) as readonly MannerName[];

/**
 * Makes up requests one by one, so that every manner of the paid upstream, and every kind of provider, has had its turn before one
 * comes again.
 */
export function createRequestMaker(
  random: Random,
  kindNames: readonly string[],
): (nonce: string, callBackUrl: string) => Request {
  let deck: MannerName[] = [];
  let kindDeck: string[] = [];
  let isPaid = false;
  let isOfKind = false;
  const nextKind = () => {
    if (kindDeck.length === 0) kindDeck = [...random.shuffled(kindNames)];
    return kindDeck.pop() ?? '';
  };
  const nextManner = () => {
    if (deck.length === 0) deck = [...random.shuffled(mannerNames)];
    return deck.pop() ?? 'answers in time';
  };
  return (nonce, callBackUrl) => {
    isOfKind = kindNames.length > 0 && !isOfKind;
    if (isOfKind) return requestFor(ofKind(nextKind(), random), random, nonce, callBackUrl);
    isPaid = !isPaid;
    const wanted = isPaid ? paid(nextManner()) : preview(random.pick(kinds), random);
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

function preview(kind: Kind, random: Random): Wanted {
  const model = kind === 'hang' ? hangingModel : patientModel;
  const fault = kind === 'plain' || kind === 'rendered' ? undefined : `preview: ${kind}`;
  return { ...sold(model), words: wordsOf(kind, random), fault, end: ends[kind] ?? 'success', endIfHurt: undefined };
}

const ends: Partial<Record<Kind, string>> = { reject: 'content_rejected', crash: 'internal', hang: 'timeout' };

function wordsOf(kind: Kind, random: Random): string {
  if (kind === 'plain') return '[[instant]]';
  if (kind === 'slow') return `[[instant]] [[slow ${random.between(1, 6)}s]]`;
  return kind === 'rendered' ? 'a lighthouse in the fog' : `[[${kind}]]`;
}

function paid(name: MannerName): Wanted {
  const expected = otherEnds[name] ?? { end: 'success', endIfHurt: undefined };
  const isOverdue = name === 'never ends' || name === 'succeeds after the deadline';
  const fault = name === 'answers in time' ? undefined : `upstream ${name}`;
  return { ...sold(isOverdue ? hastyModel : paidModel), words: mannerWord(name), fault, ...expected };
}

/** The first end that the upstream tells of counts; a worker that was hurt may not have heard it. */
const otherEnds: Partial<Record<MannerName, Pick<Request, 'end' | 'endIfHurt'>>> = {
  'says that the job failed': { end: 'provider_rejected', endIfHurt: undefined },
  'reports failure, then success': { end: 'provider_rejected', endIfHurt: 'success' },
  'reports success, then failure': { end: 'success', endIfHurt: 'provider_rejected' },
  // An attempt that begins only after the deadline finds the video ready, and delivers it.
  'succeeds after the deadline': { end: 'timeout', endIfHurt: 'success' },
  'never ends': { end: 'timeout', endIfHurt: undefined },
};

function sold(model: ModelName) {
  return { model, creditsPerSecond: creditsPerSecond[model] };
}

/** Where a lost job is found by its name, the task ends as it has to; elsewhere it may be refunded. */
function ofKind(name: string, random: Random): Wanted {
  const isFailing = random.chance(0.15);
  const { lostJobs, forgets } = kindsOfProviders.get(name) ?? {};
  const isSafe = lostJobs === 'named' && forgets !== true;
  return {
    model: name,
    creditsPerSecond: kindCreditsPerSecond,
    words: isFailing ? `of a ${failingWord}` : `a film ${'very '.repeat(random.between(0, 3))}long`,
    fault: undefined,
    end: isFailing ? 'provider_rejected' : 'success',
    endIfHurt: undefined,
    otherEnd: isSafe ? undefined : 'provider_unavailable',
  };
}
