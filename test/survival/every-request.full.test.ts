import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faults } from '../fakes/fault-proxy.ts';
import { isSampled, kinds } from '../fakes/provider-kinds.ts';
import { firstOf, mayStayUnknown, namedFaults } from '../support/fault-verdicts.ts';
import { createStories, type Played } from './request-stories.ts';

// Every kind of provider, with its real adapter and the upstream's own books as judge: the worker dies at each request that it makes,
// before the upstream gets it and after the upstream has answered it, and the create meets every fault of the network.

describe('every request to an upstream', { concurrency: true }, () => {
  const { stageOf, throughEveryRequest, playOnce } = createStories();

  for (const [name, kind] of [...kinds].filter(([kindName]) => isSampled(kindName, 'lostJobs'))) {
    describe(name, { skip: kind.skip ?? false, concurrency: false }, () => {
      const stage = stageOf(name, kind);

      test('may be the last of a worker: the video is made once', async () => {
        await throughEveryRequest(
          stage(),
          { fewest: kind.endsAlone === true ? 1 : 4 },
          async ({ task, made, isLost }) => {
            if (isLost && task.state === 'fail') return assert.equal(task.failure?.failCode, 'provider_unavailable');
            assert.equal(task.state, 'success', JSON.stringify(task.failure));
            assert.ok(kind.endsAlone === true || made.length === 1, JSON.stringify(made));
          },
        );
      });

      test('may be the last of a worker that recovers a lost job', async () => {
        const played = (): Played => ({ fault: faults['is cut after it was sent'], matches: firstOf(kind.isCreate) });
        await throughEveryRequest(stage(), { played }, async ({ task, made, isLost }) => {
          const mayBeLost = isLost || kind.lostJobs === 'lost';
          if (mayBeLost && task.state === 'fail') return assert.equal(task.failure?.failCode, 'provider_unavailable');
          assert.equal(task.state, 'success', JSON.stringify(task.failure));
          assert.ok(kind.endsAlone === true || made.length === 1, JSON.stringify(made));
        });
      });

      test('may be the last of a worker whose task is out of time: it is refunded', async () => {
        // A held create is answered at its end, which may come after the deadline: then no worker dies at its response.
        const fewest = kind.endsAlone === true ? 0 : 2;
        await throughEveryRequest(stage(), { isLate: true, fewest }, async ({ task, isLost }) => {
          const ends = isLost ? ['timeout', 'provider_unavailable'] : ['timeout'];
          // A model that ends alone may do so in time.
          if (kind.endsAlone === true && task.state === 'success') return;
          assert.ok(ends.includes(task.failure?.failCode ?? ''), JSON.stringify(task.failure));
        });
      });

      for (const [faultName, fault] of namedFaults) {
        test(`for a job ${faultName}: it is made once, or refunded`, async () => {
          // A held call has no limit but the deadline.
          const isLate = kind.endsAlone === true && fault.reply === 'never';
          const played = (): Played => ({ fault, matches: firstOf(kind.isCreate) });
          const { task } = await playOnce(stage(), { played, ...(isLate && { isLate }) });
          if (mayStayUnknown(kind, faultName) && task.state === 'fail')
            return assert.equal(task.failure?.failCode, 'provider_unavailable');
          if (isLate) return assert.equal(task.failure?.failCode, 'timeout');
          assert.equal(task.state, 'success', JSON.stringify(task.failure));
        });
      }
    });
  }
});
