/** Failures that an operator may ask for in the prompt to see how the service takes them. */
export type Faults = {
  readonly reject: boolean;
  readonly crash: boolean;
  readonly hang: boolean;
  readonly instant: boolean;
  /** Seconds by which the job takes longer. */
  readonly slowSeconds: number;
};

export type Directed = { readonly faults: Faults; /** The prompt without the directives. */ readonly title: string };

const directive = /\[\[\s*(reject|crash|hang|instant|slow\s+(\d{1,4})\s*s)\s*\]\]/gi;

/** The longest delay that can be asked for: one hour, beyond every deadline. */
const longestSlowSeconds = 3600;

const noFaults: Faults = { reject: false, crash: false, hang: false, instant: false, slowSeconds: 0 };

/** Reads the directives out of a prompt; when they are not enabled the brackets are ordinary text. */
export function readFaults(prompt: string, enabled: boolean): Directed {
  if (!enabled) return { faults: noFaults, title: prompt };
  const found = [...prompt.matchAll(directive)];
  const asks = (word: string) => found.some(([, name]) => name?.toLowerCase() === word);
  const slowSeconds = found.reduce((sum, [, , seconds]) => sum + Number(seconds ?? 0), 0);
  return {
    faults: {
      reject: asks('reject'),
      crash: asks('crash'),
      hang: asks('hang'),
      instant: asks('instant'),
      slowSeconds: Math.min(longestSlowSeconds, slowSeconds),
    },
    title: prompt.replace(directive, ' '),
  };
}
