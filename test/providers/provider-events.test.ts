import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { OutboundError } from '../../src/platform/outbound/outbound-error.ts';
import type { RunOutcome, SubmitOutcome, UpstreamClient } from '../../src/providers/provider-contract.ts';
import { callOutcomeOf, type ProviderEvent, reportDownloads } from '../../src/providers/provider-events.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [detail, error] = ['words', { kind: 'upstream', detail: 'words' } as const];

test('each outcome of a create is counted under its name', () => {
  const outcomes: readonly (readonly [SubmitOutcome | RunOutcome, string])[] = [
    [{ kind: 'accepted', id: 'job-1' }, 'accepted'],
    [{ kind: 'video', video: { path: '/x' } }, 'accepted'],
    [{ kind: 'failed', error }, 'accepted'],
    [{ kind: 'refused', error }, 'refused'],
    [{ kind: 'unknown', detail }, 'unknown'],
    [{ kind: 'lost', detail }, 'unknown'],
    ...(['busy', 'overloaded', 'unreachable', 'operator'] as const).map(
      (reason) => [{ kind: 'not_accepted', reason, detail }, reason] as const,
    ),
  ];
  for (const [outcome, expected] of outcomes) assert.equal(callOutcomeOf(outcome), expected);
});

describe('a download is counted as', () => {
  const reported = (download: UpstreamClient['download']) => {
    const events: ProviderEvent[] = [];
    const call = () => assert.fail('not used');
    return { events, client: reportDownloads({ call, download }, 'studio', (event) => void events.push(event)) };
  };
  const event = { kind: 'provider_download', provider: 'studio' } as const;

  test('complete with its bytes, after its interruptions, of which its caller hears, too', async (t) => {
    const path = join(await temporaryFolder(t), 'video');
    const broken = new OutboundError('closed', 'cut');
    const { events, client } = reported(async (_url, toFile, { onBreak }) => {
      onBreak?.(broken);
      await writeFile(toFile, 'twelve bytes');
    });
    const heard: unknown[] = [];
    const { signal } = new AbortController();
    await client.download('/video', path, { signal, onBreak: (problem) => void heard.push(problem) });
    assert.deepEqual(events, [
      { ...event, outcome: 'interrupted' },
      { ...event, outcome: 'complete', bytes: 12 },
    ]);
    assert.deepEqual(heard, [broken]);
  });

  test('failed, unless we abort it', async () => {
    for (const isAborted of [false, true]) {
      const reason = new Error('HTTP 500');
      const { events, client } = reported(() => Promise.reject(reason));
      const stop = new AbortController();
      if (isAborted) stop.abort();
      await assert.rejects(client.download('/video', '/nowhere', { signal: stop.signal }), reason);
      assert.deepEqual(events, isAborted ? [] : [{ ...event, outcome: 'failed' }]);
    }
  });
});
