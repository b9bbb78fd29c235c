/**
 * The rate of polls of one provider in this process, which all pollers of the provider share. Returns when the next request may be
 * sent, in milliseconds of `performance.now()`; the caller has that time for itself.
 */
export type PollRate = (perSecond: number) => number;

export function createPollRate(): PollRate {
  let nextAt = -Infinity;
  return (perSecond) => {
    const at = Math.max(nextAt, performance.now());
    nextAt = at + 1000 / perSecond;
    return at;
  };
}
