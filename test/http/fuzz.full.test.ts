import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../src/stores/accounts.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { parseAnswer, rawConnection } from '../support/http-raw.ts';
import { type HttpService, plainRequest, startHttpService } from '../support/http-service.ts';
import { brokenBytes, brokenRequest, type Dice, dice } from '../support/malformed.ts';

/** Enough to have found every planted fault; more is a matter of another seed. */
const rawRequests = 600;
const jsonRequests = 1_000;
const atOnce = 50;
const credits = 100_000_000;

let service: HttpService;
let account: { accountId: string; key: string };
let accepted = 0;
let charged = 0;
before(async () => {
  // What waits for more bytes is given up early, so that a run takes seconds; what has come whole is not, on a busy machine either.
  const limits = {
    headersTimeout: 1_000,
    requestTimeout: 1_500,
    keepAliveTimeout: 300,
    connectionsCheckingInterval: 50,
  };
  service = await startHttpService({ limits });
  account = await service.newAccount(credits);
});
after(() => service.close());

test('malformed HTTP gets the envelope or nothing, never a fault of ours, and leaves no memory behind', async () => {
  await sendAll(seedOf('http'), 50, rawRequest);
  const rssBefore = process.memoryUsage().rss;
  const statuses = await sendAll(seedOf('http') + 1, rawRequests, rawRequest);
  assertVaried(statuses, [200, 400, 401, 408]);
  const grown = process.memoryUsage().rss - rssBefore;
  assert.ok(grown < 100_000_000, `${grown} bytes`);
});

test('malformed JSON gets the envelope, never a fault of ours, and leaves no memory behind', async () => {
  await sendAll(seedOf('json'), 50, jsonRequest);
  const rssBefore = process.memoryUsage().rss;
  const statuses = await sendAll(seedOf('json') + 1, jsonRequests, jsonRequest);
  assertVaried(statuses, [200, 400, 422]);
  const grown = process.memoryUsage().rss - rssBefore;
  assert.ok(grown < 100_000_000, `${grown} bytes`);
});

test('what was accepted on the way is what was charged, the books add up, and the service still serves', async () => {
  assert.ok(accepted > 0, 'some requests must survive, or the fuzz never came past the first check');
  const { balance } = (await findAccount(service.database.db, account.accountId)) ?? { balance: 0 };
  assert.equal(credits - balance, charged);
  assert.deepEqual(await auditLedger(service.database.db), []);
  assert.equal((await service.create(account.key, plainRequest)).status, 200);
  assert.deepEqual(
    service.log.filter(({ level }) => Number(level) >= 50),
    [],
  );
});

/** Any number does; another one looks elsewhere. */
function seedOf(name: string): number {
  return name.length * 7_919;
}

async function sendAll(seed: number, count: number, make: (source: Dice) => Buffer): Promise<readonly number[]> {
  const statuses: number[] = [];
  const source = dice(seed);
  const requests = Array.from({ length: count }, () => make(source));
  const sendNext = async () => {
    for (let bytes = requests.shift(); bytes !== undefined; bytes = requests.shift()) {
      statuses.push(...(await exchange(bytes)));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  return statuses;
}

/** Sends bytes and checks every answer that comes before the server closes, which it does soon. */
async function exchange(bytes: Buffer): Promise<readonly number[]> {
  const connection = rawConnection(service.server.port);
  connection.write(bytes);
  const shown = () => bytes.subarray(0, 2_000).toString('latin1');
  const answers = answersIn(await connection.closed, shown);
  for (const { status, json } of answers) {
    assert.ok(status < 500, `${status} for ${JSON.stringify(shown())}`);
    if (status !== 200 || json.data['creditsCharged'] === undefined) continue;
    accepted += 1;
    charged += Number(json.data['creditsCharged']);
  }
  return answers.map(({ status }) => status);
}

/** Pipelined requests get an answer each; interim ones have no body. */
function answersIn(text: string, shown: () => string) {
  const answers = [];
  let rest = text.replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '');
  while (rest !== '') {
    const length = Number(/^HTTP\/1\.1 \d{3} [^]*?\r\ncontent-length: (\d+)\r\n/i.exec(rest)?.[1]);
    const end = rest.indexOf('\r\n\r\n') + 4 + length;
    assert.ok(Number.isInteger(end), `no HTTP: ${rest.slice(0, 300)} for ${JSON.stringify(shown())}`);
    answers.push(parseAnswer(rest.slice(0, end)));
    rest = rest.slice(end);
  }
  return answers;
}

function rawRequest(source: Dice): Buffer {
  return brokenBytes(source, request(JSON.stringify(plainRequest), source));
}

function jsonRequest(source: Dice): Buffer {
  const body = Buffer.from(brokenRequest(source));
  return request(source.roll() < 0.15 ? brokenBytes(source, body) : body, source);
}

function request(body: string | Buffer, { roll, pick }: Dice): Buffer {
  const path =
    roll() < 0.9 ? '/api/v1/jobs/createTask' : pick(['/api/v1/callbacks/redeliver', '/api/v1/callbacks/secret/rotate']);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${account.key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(roll() < 0.8 ? ['Connection: close'] : []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

/** A fuzz that gets one and the same answer to everything tests nothing. */
function assertVaried(statuses: readonly number[], wanted: readonly number[]): void {
  for (const expected of wanted) assert.ok(statuses.includes(expected), `never ${expected}`);
}
