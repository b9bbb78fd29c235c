/** Questions in one statement at most; whatever goes beyond is asked with the next statement, at the same time. */
const maxTogether = 100;

type Waiting<Question, Answer> = {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Puts the questions that arrive in one turn of the event loop to `ask` together. A statement costs both processes far more
 * than one more row in it (docs/decisions.md), and nobody waits: the turn ends as soon as nothing else has arrived.
 * `ask` gives an answer for each question, in their order; what it throws, each of them gets.
 */
export function askTogether<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let waiting: Waiting<Question, Answer>[] = [];
  function flush(): void {
    const all = waiting;
    waiting = [];
    for (let from = 0; from < all.length; from += maxTogether) void settle(ask, all.slice(from, from + maxTogether));
  }
  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ question, resolve, reject });
    });
}

async function settle<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  together: readonly Waiting<Question, Answer>[],
): Promise<void> {
  try {
    const answers = await ask(together.map(({ question }) => question));
    if (answers.length !== together.length)
      throw new Error(`${answers.length} answers to ${together.length} questions`);
    for (const [index, answer] of answers.entries()) together[index]?.resolve(answer);
  } catch (error) {
    for (const { reject } of together) reject(error);
  }
}
