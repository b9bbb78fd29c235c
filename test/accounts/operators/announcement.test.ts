import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, type TestOperator } from '../../support/service/operator-key.ts';
import { newPerson, type Person } from '../../support/service/person.ts';

let service: HttpService;
let operator: TestOperator;
let person: Person;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
  person = await newPerson(service);
});
after(() => service.close());

const announce = (body: object) => operator.ask('POST', '/api/admin/v1/announcement', { body });
const shown = async () => (await person.ask('GET', '/api/console/v1/me')).json.data['announcement'];

test('everyone who is signed in reads the announcement, until it is replaced or removed', async () => {
  assert.equal(await shown(), null);
  await announce({ text: 'Maintenance on Sunday' });
  const plain = { text: 'Maintenance on Sunday', level: 'info', link: null, endTime: null };
  assert.deepEqual(await shown(), plain);
  const endTime = Date.now() + 3_600_000;
  const second = { text: 'Kling is slow', level: 'warning', link: 'https://status.example.com/', endTime };
  for (const time of ['first', 'second']) {
    await announce(second);
    assert.deepEqual(await shown(), second, time);
  }
  const read = await operator.ask('GET', '/api/admin/v1/announcement');
  assert.deepEqual(read.json.data, { announcement: second });
  for (const time of ['first', 'second']) {
    await operator.ask('POST', '/api/admin/v1/announcement/remove', { body: {} });
    assert.equal(await shown(), null, time);
  }
  const audit = await operator.ask('GET', '/api/admin/v1/audit');
  const actions = (audit.json.data['actions'] as { action: string; details: object }[]).toReversed(); // as documented
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['announcement.set', 'announcement.set', 'announcement.remove'],
    'a repetition changes nothing',
  );
  assert.deepEqual(
    actions.slice(1).map(({ details }) => details),
    [second, { text: second.text }],
  );
});

test('an announcement disappears at its end', async () => {
  await announce({ text: 'Over', endTime: Date.now() + 3_600_000 });
  await service.database.db.run({ name: 'test-end', text: 'update announcements set ends_at = now()' });
  assert.equal(await shown(), null);
});

test('422 without text, with more than 300 characters, with a link that is no web address, and with an end in the past', async () => {
  for (const body of [
    { text: '' },
    { text: 'x'.repeat(301) },
    { text: 'a', link: 'javascript:alert(1)' },
    { text: 'a', link: 'nowhere' },
    { text: 'a', level: 'error' },
    { text: 'a', endTime: Date.now() },
  ])
    assert.equal((await announce(body)).status, 422, JSON.stringify(body));
  assert.equal((await announce({ text: 'x'.repeat(300) })).status, 200);
});
