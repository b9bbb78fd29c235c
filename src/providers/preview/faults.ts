/** Failures that an operator may ask for in the prompt to see how the service takes them. */
export type Directed = {
  /** Of `reject`, `crash`, `hang` and `instant` those that are asked for. */
  readonly faults: ReadonlySet<string>;
  /** Seconds by which the job takes longer. */
  readonly slowSeconds: number;
  /** The prompt without the directives. */
  readonly title: string;
};

const directive = /\[\[\s*(reject|crash|hang|instant|slow\s+(\d{1,4})\s*s)\s*\]\]/gi;

/** The longest delay that can be asked for: one hour, beyond every deadline. */
const longestSlowSeconds = 3600;

/** Reads the directives out of a prompt; when they are not enabled the brackets are ordinary text. */
export function readFaults(prompt: string, enabled: boolean): Directed {
  if (!enabled) return { faults: new Set(), slowSeconds: 0, title: prompt };
  const found = [...prompt.matchAll(directive)];
  const slowSeconds = found.reduce((sum, [, , seconds = 0]) => sum + Number(seconds), 0);
  return {
    faults: new Set(found.map(([, name = '']) => name.toLowerCase())),
    slowSeconds: Math.min(longestSlowSeconds, slowSeconds),
    title: prompt.replace(directive, ' '),
  };
}
