import assert from 'node:assert/strict';
import { createTopUpOrder } from '../../../src/credits/payments/top-ups.ts';
import { randomUUID } from 'node:crypto';
import { eventTypes } from '../../../src/tasks/callbacks/account-event-types-and-body.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { type FinishedRequest, insertLoggedRequests } from '../../../src/library/request-log/request-log-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { addPasskey } from '../../../src/accounts/sign-in/passkey-rows.ts';
import { createSession } from '../../../src/accounts/sign-in/sessions.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { isObject } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest } from '../../support/service/http-service.ts';
import { fromConsole, newPerson, type Person } from '../../support/service/person.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';

/** In every text of the other account, so that its data is recognizable everywhere. */
export const mark = 'tamarisk';
export const origin = { address: '192.0.2.7', userAgent: mark };

export type Other = {
  readonly accountId: string;
  readonly owner: Person;
  /** The values of an attacker, by the name of the parameter. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  readonly ids: readonly string[];
};

/** Creates an account with a row of every kind. */
export async function fillOther(service: HttpService): Promise<Other> {
  const { db } = service.database;
  const accountId = await createAccount(db, { name: mark, credits: 10_000 });
  const roles = { [accountId]: 'owner' } as const;
  const [owner, member] = [await newPerson(service, { roles }), await newPerson(service, { roles })];
  const text = `update users set email = '${mark}-' || email where id in ($1, $2)`;
  await db.run({ name: 'test-mark-people', text }, [owner.userId, member.userId]);
  const ask = async (path: string, body: unknown) => {
    const { status, json } = await owner.ask('POST', path, { accountId, body });
    assert.equal(status, 200, json.msg);
    return json.data;
  };
  const hook = `http://${mark}.test/`;
  await ask('/api/v1/events/endpoint', { url: hook, types: eventTypes });
  await ask('/api/v1/credits/low-balance', { lowBalance: 1_000 });
  const accept = () => acceptTestTask(db, accountId, taskParam(mark, {}, hook));
  const [live, failed, succeeded] = [await accept(), await accept(), await accept()];
  await failAndRefund(db, failed, { failCode: 'content_rejected', failMsg: `The model refused ${mark}.` });
  const eventIds = [taskEventId(failed), taskEventId(succeeded)];
  const [videoKey, posterKey] = [`results/${succeeded}/video.mp4`, `results/${succeeded}/poster.jpg`];
  await completeTask(db, succeeded, { ...madeUpMeasures, videoKey, posterKey });
  const created = await ask('/api/v1/jobs/createTask', { model: plainRequest.model, input: { prompt: mark } });
  await recordDeliveryAttempt(db, {
    delivery: { deliveryId: succeeded, redeliveries: 0 },
    attempt: { startedAt: 1, durationMs: 1, status: 500, error: undefined, responseHead: Buffer.from(mark) },
    newState: { state: 'pending', dueAt: 0 },
  });
  const requestId = randomUUID();
  await insertLoggedRequests(
    db,
    [requestId, randomUUID()].map((id) => loggedRequest(accountId, id, succeeded)),
  );
  const key = await ask('/api/v1/keys', { name: mark, scopes: ['tasks:read'], caps: { total: 1_000 } });
  const { linkId } = await ask('/api/console/v1/members/invite', { email: `new@${mark}.test`, role: 'viewer' });
  await ask('/api/v1/callbacks/secret', {});
  await ask('/api/v1/events/secret', {});
  const uploaded = await service.send('POST', '/api/v1/uploads', {
    headers: {
      ...fromConsole,
      'videogen-account': accountId,
      'content-type': 'image/png',
      cookie: owner.cookie() ?? '',
    },
    body: await plainImage(300, 300).png().toBuffer(),
  });
  const { url: imageUrl } = uploaded.json.data;
  await ask('/api/v1/gallery/label', { taskIds: [succeeded], favorite: true, addTags: [mark] });
  const { link: shareLink } = await ask('/api/v1/gallery/share', { taskId: succeeded, title: mark });
  assert.ok(isObject(shareLink));
  const credential = { credentialId: mark, publicKey: Buffer.from('key'), counter: 0, transports: [] };
  const passkey = await addPasskey(db, owner, { name: mark, credential, origin });
  assert.ok(typeof passkey === 'object');
  const { passkeyId } = passkey;
  const { session } = await createSession(db, owner.userId, origin);
  const keyId = String(key['keyId']);
  const offer = { title: mark, credits: 1, price: { currency: 'EUR', minorUnits: 1 } };
  const purchase = await createTopUpOrder(db, { name: 'stripe', isTest: true }, { accountId, name: 'starter', offer });
  assert.ok(purchase.kind === 'opened');
  const cursorsOf = ['/api/v1/jobs/listTasks', '/api/v1/credits', '/api/v1/callbacks', '/api/v1/events'].concat(
    '/api/console/v1/events',
    '/api/v1/requests',
  );
  const pages = cursorsOf.map((path) => owner.ask('GET', `${path}?limit=1`, { accountId }));
  const cursors = (await Promise.all(pages)).map(({ json }) => json.data['nextCursor']);
  assert.ok(cursors.every((cursor) => cursor !== null));
  return {
    accountId,
    owner,
    ids: [
      accountId,
      owner.userId,
      member.userId,
      live,
      failed,
      succeeded,
      String(created['taskId']),
      ...eventIds,
    ].concat(
      [
        requestId,
        keyId,
        String(linkId),
        String(shareLink['linkId']),
        passkeyId,
        session.sessionId,
        purchase.order.topUpId,
      ],
      typeof imageUrl === 'string' ? imageUrl : [],
    ),
    values: {
      accountId: [accountId],
      taskId: [live, failed, succeeded],
      taskIds: [[succeeded], [live]],
      tag: [mark],
      addTags: [[mark]],
      eventId: eventIds,
      deliveryId: [succeeded, failed, ...eventIds],
      // Videos of other APIs are tasks.
      id: [live, failed, succeeded],
      keyId: [keyId],
      userId: [member.userId, owner.userId],
      linkId: [linkId, shareLink['linkId']],
      sessionId: [session.sessionId],
      passkeyId: [passkeyId],
      createdBy: [owner.userId, keyId],
      requestId: [requestId],
      cursor: cursors,
      search: [live.slice(0, 8), live],
      input: [{ prompt: 'a boat', imageUrls: [imageUrl] }],
      urls: [imageUrl],
    },
  };
}

function loggedRequest(accountId: string, requestId: string, taskId: string): FinishedRequest {
  const none = { keyId: undefined, userId: undefined, tool: undefined, errorCode: undefined };
  const rest = { endedAt: Date.now(), durationMs: 1, method: 'POST', endpoint: `/${mark}`, status: 200 };
  return { requestId, accountId, taskId, ...none, ...rest };
}
