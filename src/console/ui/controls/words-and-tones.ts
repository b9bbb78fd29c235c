/** A color stands beside a word, never alone. */
export type Tone = 'good' | 'bad' | 'warn' | 'live' | 'calm';

/** A state in a word. */
export type WordAndTone = { readonly word: string; readonly tone: Tone };

/** The word for a name of the service, such as a state. A tab stays open while the service is upgraded, so a newer name appears as it is. */
export function labelOrName(words: Readonly<Record<string, string>>, name: string): string {
  return words[name] ?? name;
}

/** The same with a tone. */
export function wordAndToneOf(words: Readonly<Record<string, WordAndTone>>, state: string): WordAndTone {
  return words[state] ?? { word: state, tone: 'calm' };
}
