import type { Piece } from './source-text.ts';

// The ban list of the project's vocabulary. A rule for words also finds them inside names, such as `keptUntil` and `kept_until`.

type WordRule = {
  readonly words: string;
  readonly instead: string;
  /** Tested against the text around the word, in which `<word>` is marked by angle brackets. A match is a legitimate use. */
  readonly unless?: RegExp;
  /** Tested likewise: only a match is a finding. */
  readonly only?: RegExp;
  readonly in?: readonly Piece['kind'][];
};

type PhraseRule = { readonly phrase: RegExp; readonly instead: string };

const wordRules: readonly WordRule[] = [
  {
    words: 'look looks looked looking',
    instead: 'read, check, poll, describe',
    unless: /run <look>|<look\w*>[ -]?(?:up|behind|ahead)/i,
  },
  { words: 'tell tells told telling teller', instead: 'notify, report, return' },
  { words: 'kept', instead: 'stored, retained, persisted' },
  { words: 'gone', instead: 'deleted, expired, missing', unless: /410 <Gone>/ },
  { words: 'ask', instead: 'request, query, prompt', in: ['name'] },
  { words: 'asks asked asking asker', instead: 'request, query, prompt' },
  { words: 'hear hears heard', instead: 'receive' },
  {
    words: 'sees saw',
    instead: 'read, receive, find',
    unless: /(?:customer|user|member|owner|operator|reader|person|you) (?:then |also |now )?<s/i,
  },
  { words: 'somebody nobody anybody everybody someone', instead: 'operator, owner, member, user, client' },
  { words: 'whoever whomever whatever', instead: 'any operator, any client; every, any' },
  { words: 'moment moments', instead: 'a time, an instant, shortly' },
  { words: 'strike strikes struck', instead: 'failure, consecutive failures' },
  { words: 'fault faults faulty', instead: 'error, failure, problem' },
  { words: 'shut shuts shutting', instead: 'closed, disabled', unless: /<shut\w*>[ -]?(?:down|Down)/i },
  { words: 'away', instead: 'unavailable, unreachable', unless: /right <away>/ },
  {
    words: 'place places',
    instead: 'slot, concurrency limit; position',
    unless:
      /(?:\bin|into|takes?|first|one|same|same time and|decimal) ?<places?>|<place>[-_]?(?:items|content|self|holder)/i,
  },
  {
    words: 'round rounds',
    instead: 'attempt, redelivery, pass',
    unless: /Key<Round>|<round>\(|<rounds?>[ -]?(?:up|down|to|the|half|trip|robin)|["']<round>["']/i,
  },
  { words: 'mend mends mended mending', instead: 'fix, remediation' },
  { words: 'withdrawal withdrawals', instead: 'uncertain commit' },
  {
    words: 'withdraw withdraws withdrawn',
    instead: 'uncertain commit, roll back',
    only: /(?:accept|create|commit|task)\w*( \w+)? ?<|>\w*(?:Create|Accept|Commit|Task)/i,
  },
  { words: 'doubt doubts doubtful', instead: 'uncertain' },
  { words: 'surely', instead: 'idempotent, retried' },
  { words: 'knows knew', instead: 'has, caches, stores' },
  { words: 'wants wanted', instead: 'needs, requests' },
  { words: 'says said saying', instead: 'returns, states, reports' },
  { words: 'remember remembers remembered', instead: 'store, cache, persist' },
  { words: 'gather gathers gathered gathering', instead: 'batch, collect' },
  { words: 'lapse lapses lapsed', instead: 'expire' },
  { words: 'wrong', instead: 'invalid, incorrect', in: ['name'] },
  { words: 'amiss awry', instead: 'failing, inconsistent' },
  { words: 'behaviour behaviours colour colours favour honour honours', instead: 'American spelling: -or' },
  {
    words: 'normalise normalised normalises summarise summarises summarised recognise recognises recognised organise',
    instead: 'American spelling: -ize',
  },
];

const phraseRules: readonly PhraseRule[] = [
  { phrase: /\bby then\b/i, instead: 'by that time; name the event' },
  { phrase: /\bat once\b/i, instead: 'immediately, concurrently' },
  { phrase: /\b(?:in|by|takes?|taking) turns?\b/i, instead: 'sequentially, round-robin, alternate' },
  { phrase: /\b(?:g[ia]ves? up|giv(?:en|ing) up)\b/i, instead: 'time out, stop, fail, abandon' },
  { phrase: /\b(?:g[ia]ves? way|giv(?:en|ing) way)\b/i, instead: 'is superseded, preempted' },
  { phrase: /\bthat (?:is|are) none\b/i, instead: 'invalid …: expected …' },
  { phrase: /\bno such (?!file)/i, instead: 'not found, unknown' },
  { phrase: /\bby (?:itself|themselves)\b/i, instead: 'automatically' },
  { phrase: /\b(?:finds?|found|finding) out\b/i, instead: 'recover, reconcile, read' },
  { phrase: /\b(?:is|are|be) sure\b/i, instead: 'is certain, verified' },
  { phrase: /\bperson who\b/i, instead: 'operator, owner, member, user' },
];

/** A comment that begins so is a fragment; after the second kind, a comma in the first sentence promises a main clause. */
const fragment = /^\s*(?:(?:What|How|Of|Whether|Where|Who)\b|(?:For|As|Without)\b(?=[^,.]*(?:[.]|$)))/;
/** Summaries of endpoints begin with a verb, as in "Creates a task". */
const withoutVerb = /^\W*(?:What|How|Where|Who|Whether|Tells?|The|An?|One|Everything|Models|Callbacks)\b/;
const questionHeading = /^#+ (?:What|How|Whether|Where|Who|Why|When|If)\b.*$/gm;

export type Finding = {
  readonly word: string;
  readonly text: string;
  readonly index: number;
  readonly instead: string;
};

const rulesByWord = new Map(wordRules.flatMap((rule) => rule.words.split(' ').map((one) => [one, rule] as const)));
const partOfName = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/** The findings in one piece of a file. */
export function findingsIn(piece: Piece): readonly Finding[] {
  const words = [...piece.text.matchAll(partOfName)].flatMap((found): readonly Finding[] => {
    const rule = rulesByWord.get(found[0].toLowerCase());
    if (rule === undefined || rule.in?.includes(piece.kind) === false) return [];
    const end = found.index + found[0].length;
    const before = piece.text.slice(Math.max(0, found.index - 30), found.index);
    const marked = `${before}<${found[0]}>${piece.text.slice(end, end + 20)}`;
    const context = marked.replaceAll(/\s+/g, ' ');
    if (rule.unless?.test(context) === true || rule.only?.test(context) === false) return [];
    return [finding(piece, found.index, found[0].toLowerCase(), rule.instead)];
  });
  if (piece.kind === 'name') return words;
  const phrases = phraseRules.flatMap(({ phrase, instead }) =>
    [...piece.text.matchAll(new RegExp(phrase.source.replaceAll(' ', '\\s+'), 'gi'))].map((found) =>
      finding(piece, found.index, found[0].trim().toLowerCase().replaceAll(/\s+/g, ' '), instead),
    ),
  );
  return [...words, ...phrases, ...shapesIn(piece)];
}

function shapesIn(piece: Piece): readonly Finding[] {
  if (piece.kind === 'summary') {
    return withoutVerb.test(piece.text) ? [finding(piece, 0, 'summary', 'begin with a verb')] : [];
  }
  if (piece.kind !== 'message') {
    const start = /\w/.exec(piece.text)?.index ?? 0;
    const found = fragment.exec(piece.text.slice(start));
    // "Whether the charge succeeded" is how API references describe a boolean.
    if (piece.kind === 'description' && found?.[0].trim() === 'Whether') return [];
    return found === null ? [] : [finding(piece, start, `${found[0].trim()} …`, 'a full sentence that says why')];
  }
  return [...piece.text.matchAll(questionHeading)].map((found) =>
    finding(piece, found.index, 'heading', 'a task: verb and object'),
  );
}

function finding(piece: Piece, index: number, word: string, instead: string): Finding {
  const line = piece.text.slice(Math.max(0, index - 50), index + 70).replaceAll(/\s+/g, ' ');
  return { word, text: piece.kind === 'name' ? piece.text : line.trim(), index: piece.index + index, instead };
}
