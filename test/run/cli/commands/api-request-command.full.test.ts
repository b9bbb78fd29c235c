import { createAccount } from '../../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../../src/accounts/accounts.ts';
import { findBalanceAndThreshold } from '../../../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { listOperatorActions } from '../../../../src/accounts/operators/audit-log.ts';
import { type HttpService, startHttpService } from '../../../support/service/http-service.ts';
import { plainImage } from '../../../support/hostile/hostile-images.ts';
import { createTestOperator, type TestOperator } from '../../../support/service/operator-key.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { videogen } from '../../../support/processes/run-videogen.ts';

let service: HttpService;
let operator: TestOperator;
let studio: { accountId: string; key: string };
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
  studio = await service.newAccount(500);
});
after(() => service.close());

/** A proxy may not publish the endpoints of operators, so PUBLIC_URL leads nowhere here. */
const environment = () => ({
  PATH: process.env['PATH'],
  PUBLIC_URL: 'http://127.0.0.1:1',
  VIDEOGEN_BASE_URL: service.url,
  VIDEOGEN_OPERATOR_KEY: operator.key,
  VIDEOGEN_API_KEY: studio.key,
});

const api = (...args: readonly string[]) => videogen(environment(), 'api', ...args);

async function data(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await api(...args, '--json');
  assert.equal(code, 0, stderr);
  // A command with --json prints one JSON object.
  return JSON.parse(stdout) as Record<string, unknown>;
}

const accounts = '/api/admin/v1/accounts';

test('fields are the query of a GET and the body of a POST; an account is named, and the audit log names the operator', async () => {
  const { db } = service.database;
  const accountId = await createAccount(db, { name: 'Harbor Films', credits: 7 });
  await createAccount(db, { name: 'Harbor Films 2', credits: 8 });
  const { code, stdout } = await api('get', `${accounts}/show`, '--account', 'Harbor Films');
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`^\\{\n {2}"account": \\{\n {4}"accountId": "${accountId}",\n`));
  const limits = ['-F', 'maxUnfinishedTasks=7', '-F', 'creates={"quota": 50, "windowSeconds": 60}'];
  await data('POST', `${accounts}/limits`, '--account', 'Harbor Films', ...limits);
  const reason = ['-f', 'reason=true'];
  await data('POST', `${accounts}/suspend`, '--account', accountId, ...reason);
  const account = await findAccount(db, accountId);
  assert.deepEqual([account?.maxUnfinishedTasks, account?.createRate?.quota], [7, 50]);
  const [suspension] = await listOperatorActions(db, { accountId, limit: 1 });
  assert.equal(suspension?.details['reason'], 'true', 'a text, although it is JSON');
  assert.equal(suspension.actor.kind === 'operator' && suspension.actor.operatorId, operator.operatorId);
});

test('null and lists are values, @FILE is a text, --input the body, and a header makes a grant safe to repeat', async (t) => {
  const folder = await temporaryFolder(t);
  const [reason, body] = [join(folder, 'reason.txt'), join(folder, 'body.json')];
  await writeFile(reason, 'invoice 17');
  const grant = ['POST', '/api/admin/v1/credits/grant', '-H', 'Idempotency-Key: invoice-17', '-F', 'credits=5'];
  for (let n = 0; n < 2; n += 1) {
    const { entry } = await data(...grant, '--account', studio.accountId, '-F', `reason=@${reason}`);
    assert.equal((entry as { reason: string }).reason, 'invoice 17');
  }
  assert.equal((await findBalanceAndThreshold(service.database.db, studio.accountId))?.balance, 505);
  const rename = { accountId: studio.accountId, name: 'Studio' };
  await writeFile(body, JSON.stringify(rename));
  assert.equal((await data('POST', `${accounts}/rename`, '--input', body))['name'], 'Studio');
  const image = join(folder, 'boat.png');
  await plainImage(300, 300).png().toFile(image);
  const uploaded = await data('POST', '/api/v1/uploads', '-H', 'Content-Type: image/png', '--input', image);
  assert.match(String(uploaded['url']), /^http/);
  const none = ['-F', 'day=null', '-F', 'month=3'];
  const key = await data('POST', '/api/v1/caps', '--key', (await keyFor(['keys:write'])).key, ...none);
  assert.equal((key['caps'] as readonly unknown[]).length, 1);
});

async function keyFor(scopes: readonly string[]) {
  const options = ['--account', studio.accountId, '-f', 'name=caps', '-F', `scopes=${JSON.stringify(scopes)}`];
  return { key: String((await data('POST', '/api/admin/v1/keys', ...options))['key']) };
}

test('--paginate reads every page of a list', async () => {
  const { db } = service.database;
  for (const name of ['page 1', 'page 2', 'page 3']) await createAccount(db, { name, credits: 0 });
  const options = ['GET', accounts, '-f', 'search=page', '-F', 'limit=1'];
  assert.equal(((await data(...options))['accounts'] as readonly unknown[]).length, 1);
  const all = await data(...options, '--paginate');
  assert.deepEqual(
    (all['accounts'] as readonly { name: string }[]).map(({ name }) => name),
    ['page 1', 'page 2', 'page 3'],
  );
  assert.equal(all['nextCursor'], null);
});

test('a path outside /api/admin/ takes the key of an account, and other formats than JSON are printed as they are', async () => {
  assert.ok(Number((await data('GET', '/api/v1/credits', '-F', 'limit=1'))['balance']) >= 500);
  const month = `month=${new Date().toISOString().slice(0, 7)}`;
  for (const more of [[], ['--json']]) {
    const { stdout } = await api('GET', '/api/v1/credits/statement.csv', '-f', month, ...more);
    assert.match(stdout, /^month,section,createTime/);
  }
});

test('an error of the service has its stable code, its fields, and its JSON with --json; the exit code is 1', async () => {
  const unknown = ['GET', `${accounts}/show`, '-f', 'accountId=019abc12-3456-7def-8901-234567890abc'];
  const { code, stdout, stderr } = await api(...unknown);
  assert.deepEqual([code, stdout, stderr], [1, '', 'account_not_found: account not found\n']);
  const json = JSON.parse((await api(...unknown, '--json')).stdout) as Record<string, unknown>;
  assert.deepEqual([json['code'], json['error']], [404, 'account_not_found']);
  const invalid = await api('POST', `${accounts}/limits`, '--account', studio.accountId, '-F', 'maxUnfinishedTasks=-1');
  assert.match(invalid.stderr, /^invalid_request: .*\n {2}maxUnfinishedTasks: must be /);
  assert.match((await api('GET', accounts, '--account', 'Stud')).stderr, /^account not found: Stud\n$/);
  const wrongKey = await api('GET', accounts, '--key', 'vgop_none');
  assert.match(wrongKey.stderr, /^unauthorized: .*\n.* operator create NAME\n$/);
});

test('without a key the message names the command that creates one; an unreachable service is named', async () => {
  const { VIDEOGEN_OPERATOR_KEY: _, VIDEOGEN_API_KEY: __, ...keyless } = environment();
  const { code, stderr } = await videogen(keyless, 'api', 'GET', accounts);
  assert.equal(code, 1);
  assert.match(stderr, /^no operator's key: set --key or VIDEOGEN_OPERATOR_KEY\. .* operator create NAME\n$/);
  // A key of a client is another one, also for the commands that use no other.
  for (const args of [
    ['api', 'GET', '/api/v1/models'],
    ['generate', 'a lighthouse'],
  ]) {
    const client = await videogen(keyless, ...args);
    assert.equal(client.code, 1);
    assert.match(client.stderr, /^no API key: set --key or VIDEOGEN_API_KEY\. .* key create --help"/);
  }
  const nowhere = await api('GET', accounts, '--base-url', 'http://127.0.0.1:1');
  assert.match(nowhere.stderr, /^http:\/\/127\.0\.0\.1:1 cannot be reached: .*\nIs the service running\?/);
});

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [['HEAD', accounts], /It must be GET, POST, DELETE\./],
  [['GET', 'accounts'], /It must begin with \//],
  [['GET', accounts, '-f', 'search'], /It must be name=value\./],
  [['GET', accounts, '-H', 'Accept'], /It must be name:value\./],
  [['POST', accounts, '--paginate'], /--paginate reads a list/],
  [['GET', '/api/v1/credits', '--account', 'studio'], /--account is for paths below \/api\/admin\//],
];
for (const [args, message] of wrong) {
  test(`wrong usage exits with 2: api ${args.join(' ')}`, async () => {
    const { code, stdout, stderr } = await api(...args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, message);
  });
}
