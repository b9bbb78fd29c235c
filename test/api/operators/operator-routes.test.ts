import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { endpoints } from '../../../src/api/endpoints.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, type TestOperator } from '../../support/service/operator-key.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createExamples, type Example } from './operator-examples.ts';

const operatorEndpoints = endpoints.filter(({ scope }) => scope === 'operator');

let service: HttpService;
let operator: TestOperator;
let examples: Readonly<Record<string, Example>>;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
  examples = createExamples(service, operator);
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const countActions = async () => (await listOperatorActions(service.database.db, { limit: 10_000 })).length;

for (const { operationId, method, path } of operatorEndpoints) {
  if (method === 'get') continue;
  test(`${operationId} writes one entry into the audit log, and none when it is refused or changes nothing`, async () => {
    const example = examples[operationId];
    assert.ok(example, 'every operation that changes something needs an example in operator-examples.ts');
    const body = await example.does();
    const wish = { body, headers: { 'idempotency-key': randomUUID() } };
    const earlier = await countActions();
    const answer = await operator.ask('POST', path, wish);
    assert.equal(answer.status, 200, answer.bytes.toString());
    const [latest] = await listOperatorActions(service.database.db, { limit: 1 });
    assert.equal(await countActions(), earlier + 1);
    const requestId = answer.headers['x-request-id'];
    assert.deepEqual(latest?.actor, { kind: 'operator', operatorId: operator.operatorId, name: 'ada', requestId });
    const subjects: Readonly<Record<string, unknown>> = { ...latest?.details, ...latest };
    for (const [name, value] of Object.entries(body)) {
      if (name.endsWith('Id')) assert.equal(subjects[name], value, name);
      if (name === 'reason') assert.equal(latest.details['reason'], value);
    }
    assert.ok(
      !/vg_|whsec_|vgop_(?!.{4}…)/.test(JSON.stringify(latest.details).replaceAll(/vg_.{4}…/g, '')),
      'no secret',
    );
    const again = await operator.ask('POST', path, wish);
    assert.equal(again.status, 200);
    assert.equal(await countActions(), earlier + (example.changesAgain === true ? 2 : 1), 'repeated');
    const settled = await countActions();
    const refused = await operator.ask('POST', path, { ...wish, body: example.refused });
    assert.ok([404, 409, 422].includes(refused.status), String(refused.status));
    assert.equal(await countActions(), settled, 'refused');
  });
}

test('500 when the audit log cannot be written, nothing is changed: neither credits, keys, accounts nor tasks', async () => {
  const { db } = service.database;
  const bodies = new Map<string, Record<string, unknown>>();
  for (const [id, example] of Object.entries(examples)) bodies.set(id, await example.does());
  await db.run({
    name: 'test-break-log',
    text: `alter table operator_actions add constraint broken check (false) not valid`,
  });
  const untouched = await everything();
  try {
    for (const { operationId, path } of operatorEndpoints.filter(({ method }) => method === 'post')) {
      const body = bodies.get(operationId);
      const answer = await operator.ask('POST', path, { body, headers: { 'idempotency-key': randomUUID() } });
      assert.equal(answer.status, 500, operationId);
      assert.equal(await everything(), untouched, operationId);
    }
  } finally {
    await db.run({ name: 'test-fix-log', text: 'alter table operator_actions drop constraint broken' });
  }
});

/** A digest of all that operators may change; that a key was used is written down behind the answers. */
async function everything(): Promise<string> {
  const tables = [
    'accounts',
    'ledger_entries',
    'api_keys',
    'tasks',
    'callback_deliveries',
    'content_deletions',
    'account_closures',
    'operator_actions',
    'prices',
    'provider_switches',
    'announcements',
    'users',
    'sessions',
    'one_time_links',
    'security_events',
  ];
  const row = `(to_jsonb(t) - 'last_used_at')::text`;
  const digests = tables.map((table) => `(select md5(string_agg(${row}, ',' order by ${row})) from ${table} t)`);
  const text = `select concat_ws(',', ${digests.join(', ')}) as digest`;
  const [found] = await service.database.db.run<{ digest: string }>({ name: 'test-digest', text });
  return found?.digest ?? '';
}
