import { randomUUID } from 'node:crypto';
import { messageOf } from '../platform/setup-errors-and-error-messages.ts';
import type { Job, JobStatus, Provider, UpstreamClient } from './provider-contract.ts';
import { withDefaults } from '../catalogue/input/task-input.ts';
import type { ProviderTestReport } from '../catalogue/providers/provider-test-outcome.ts';
import { OutboundError } from '../platform/outbound/outbound-error.ts';

// A test reads a job that does not exist, which costs nothing at any upstream and shows whether it is reachable and takes our key.

const maxDetailLength = 500;
/** 402 is the answer of upstreams whose prepaid balance is used up. */
const rejected: readonly number[] = [401, 402, 403, 407];

type Seen = { status?: number; error?: unknown; latencyMs?: number };

/** `open` opens the provider with a client whose requests are observed. */
export async function testProvider(
  client: UpstreamClient,
  open: (observed: UpstreamClient) => Provider,
  signal: AbortSignal,
): Promise<ProviderTestReport> {
  const seen: Seen = {};
  const observed: UpstreamClient = {
    ...client,
    call: async (...request) => {
      const startedAt = performance.now();
      try {
        const answer = await client.call(...request);
        seen.status = answer.status;
        return answer;
      } catch (error) {
        seen.error = error;
        throw error;
      } finally {
        seen.latencyMs = Math.round(performance.now() - startedAt);
      }
    },
  };
  return verdictOn(seen, await statusFrom(open(observed), signal).catch(messageOf));
}

/** Returns the status of a job that does not exist, or what was reported instead. */
async function statusFrom(provider: Provider, signal: AbortSignal): Promise<JobStatus | string> {
  if (provider.runs !== 'upstream') return (await provider.check?.(signal)) ?? 'no health check';
  const jobKey = randomUUID();
  const job: Job = { jobKey, id: jobKey, handle: {}, input: withDefaults({ prompt: '' }) };
  return (await provider.status([job], signal)).get(jobKey) ?? 'no status';
}

function verdictOn({ status, error, latencyMs }: Seen, found: JobStatus | string): ProviderTestReport {
  const why = typeof found === 'string' ? found : 'detail' in found ? found.detail : undefined;
  const detail = (error instanceof OutboundError ? error.detail : why)?.slice(0, maxDetailLength);
  if (latencyMs === undefined) return { outcome: 'not_tested', detail };
  if (status === undefined) return { outcome: 'unreachable', latencyMs, detail };
  const measured = { status, latencyMs, detail };
  if (rejected.includes(status)) return { outcome: 'key_rejected', ...measured };
  if (status === 429 || status >= 500) return { outcome: 'unavailable', ...measured };
  const isUnclear = typeof found === 'string' || found.state === 'unclear';
  return isUnclear ? { outcome: 'responded', ...measured } : { outcome: 'ok', status, latencyMs };
}
