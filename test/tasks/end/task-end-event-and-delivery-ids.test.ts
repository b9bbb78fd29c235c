import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  owedDeliveryIds,
  taskEventId,
  taskEventIdSql,
} from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const taskId = '01999999-7777-7777-9777-777777777777';
const eventId = '01999999-7777-8777-9777-777777777777';

test("the id of the event is the task's with another version, also in SQL", async () => {
  assert.equal(taskEventId(taskId), eventId);
  const text = `select ${taskEventIdSql('$1')} as id`;
  assert.deepEqual(await database.db.run({ name: 'test-event-id', text }, [taskId]), [{ id: eventId }]);
});

test('a task that has ended owes its callback, its event, both or none', () => {
  assert.deepEqual(owedDeliveryIds(taskId, { hasCallback: true, hasEvent: true }), [taskId, eventId]);
  assert.deepEqual(owedDeliveryIds(taskId, { hasCallback: true }), [taskId]);
  assert.deepEqual(owedDeliveryIds(taskId, { hasCallback: false, hasEvent: true }), [eventId]);
  assert.deepEqual(owedDeliveryIds(taskId, { hasCallback: false }), []);
});
