import type { Client } from '@temporalio/client';
import { findTemporalProblem } from '../doctor/check-temporal.ts';
import { type TemporalTarget, usingTemporal } from '../../temporal/connection/connect.ts';
import { CommandError } from './command-output-and-errors.ts';

/**
 * Runs a command's calls of Temporal. Temporal is tried first without retries, because those of the calls would hide a wrong address or
 * namespace for 20 s, and end in an error of the client.
 */
export async function withCheckedTemporal<T>(target: TemporalTarget, use: (client: Client) => Promise<T>): Promise<T> {
  const problem = await findTemporalProblem(target);
  if (problem !== undefined) throw new CommandError(problem);
  return usingTemporal(target, { retries: true }, use);
}
