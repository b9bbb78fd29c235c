/** This model distinguishes frames from references by the name of its task. */
export function isMinimaxH3(upstreamModel: string): boolean {
  return /minimax-h3/i.test(upstreamModel);
}
