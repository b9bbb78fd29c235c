import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { OutboundError } from '../../src/platform/outbound/outbound-error.ts';
import { submitOutcomeLabelOf, clientWithDownloadEvents } from '../../src/providers/provider-events.ts';
import type { RunOutcome, SubmitOutcome, UpstreamClient } from '../../src/providers/provider-contract.ts';
import { recordEvents } from '../support/service/metric-event-sinks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a download is counted with its bytes or its failure, and each interruption', async (t) => {
  const path = join(await temporaryFolder(t), 'video');
  const broken = new OutboundError('timeout', 'a test');
  const call: UpstreamClient['call'] = () => assert.fail('not used');
  const completes: UpstreamClient['download'] = async (_url, to, { onBreak }) => {
    onBreak?.(broken);
    await writeFile(to, 'a film');
  };
  const fails: UpstreamClient['download'] = () => Promise.reject(broken);
  const stopping = new AbortController();
  const provider = 'studio';
  const countOf = async (download: UpstreamClient['download'], signal = new AbortController().signal) => {
    const { seen, emit } = recordEvents('provider_download');
    const breaks: unknown[] = [];
    const client = clientWithDownloadEvents({ call, download }, provider, emit);
    const onBreak = (error: unknown) => breaks.push(error);
    const error: unknown = await client.download('/video', path, { signal, onBreak }).catch((cause: unknown) => cause);
    return { counted: seen, breaks, error };
  };
  const event = { kind: 'provider_download', provider };
  assert.deepEqual(await countOf(completes), {
    counted: [
      { ...event, outcome: 'interrupted' },
      { ...event, outcome: 'complete', bytes: 6 },
    ],
    breaks: [broken],
    error: undefined,
  });
  assert.deepEqual(await countOf(fails), {
    counted: [{ ...event, outcome: 'failed' }],
    breaks: [],
    error: broken,
  });
  stopping.abort();
  assert.deepEqual(await countOf(fails, stopping.signal), { counted: [], breaks: [], error: broken });
});

test('a create is counted by what is known of its job', () => {
  const detail = 'a test';
  const error = { kind: 'input', detail } as const;
  const outcomes: readonly (readonly [SubmitOutcome | RunOutcome, string])[] = [
    [{ kind: 'accepted', id: 'job' }, 'accepted'],
    [{ kind: 'video', video: { path: '/video' } }, 'accepted'],
    [{ kind: 'failed', error }, 'accepted'],
    [{ kind: 'refused', error }, 'refused'],
    [{ kind: 'unknown', detail }, 'unknown'],
    [{ kind: 'lost', detail }, 'unknown'],
    [{ kind: 'not_accepted', reason: 'overloaded', detail }, 'overloaded'],
  ];
  for (const [outcome, counted] of outcomes) assert.equal(submitOutcomeLabelOf(outcome), counted);
});
