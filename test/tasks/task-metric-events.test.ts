import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconciledOutcomes, reconcileFindings, uncertainCreateOutcomes } from '../../src/tasks/task-metric-events.ts';

test('the findings and outcomes that metrics count are complete', () => {
  assert.deepEqual(reconcileFindings, [
    'callback_owed',
    'workflow_left',
    'provider_job_left',
    'media_expired',
    'upload_expired',
    'ledger_violation',
    'failed',
  ]);
  assert.deepEqual(reconciledOutcomes, ['started', 'refunded']);
  assert.deepEqual(uncertainCreateOutcomes, ['none', 'refunded', 'answered', 'too_late']);
});
