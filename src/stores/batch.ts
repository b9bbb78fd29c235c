import DataLoader from 'dataloader';
import pLimit from 'p-limit';

export type BatchLimits = {
  /** Questions in one statement at most; what comes beyond goes into the next. */
  readonly maxBatchSize: number;
  /** Statements at the same time; what comes meanwhile waits for one of them to end, and then goes into one batch. */
  readonly maxStatements: number;
};

/**
 * Answers the questions that come at the same time with one statement. A lone question is asked in the turn of the event loop
 * in which it came; under load each statement takes all that came while the ones before it ran. `ask` answers in order.
 */
export function createBatcher<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly (Answer | Error)[]>,
  { maxBatchSize, maxStatements }: BatchLimits,
): (question: Question) => Promise<Answer> {
  const inTurn = pLimit(maxStatements);
  let asked: Promise<unknown> = Promise.resolve();
  const askAndTell = (questions: readonly Question[]) => {
    const answers = ask(questions);
    asked = answers;
    return answers;
  };
  const loader = new DataLoader(askAndTell, {
    // What was true for one question need not be for the next: a key may have been revoked.
    cache: false,
    maxBatchSize,
    batchScheduleFn: (start) => {
      const statement = async () => {
        start();
        // The questions get the error.
        await asked.catch(() => {});
      };
      setImmediate(() => void inTurn(statement));
    },
  });
  return (question) => loader.load(question);
}
