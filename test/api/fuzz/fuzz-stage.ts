import assert from 'node:assert/strict';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { parseAnswer, rawConnection } from '../../support/proxies/raw-http.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { patient, watchNodeServer } from '../../support/servers/node-server-limits.ts';
import { brokenBytes, brokenRequest, type Dice, dice } from '../../support/hostile/malformed.ts';

const atOnce = 50;
const credits = 100_000_000;

export type Fuzz = {
  /** Sends malformed HTTP, or malformed JSON in sound HTTP; answers the status of each answer. */
  readonly send: (kind: keyof typeof makers, seed: number, count: number) => Promise<readonly number[]>;
  /** What was accepted on the way is what was charged, the books add up, and the service still serves. */
  readonly assertSound: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** What waits for more bytes is given up as soon as all that was sent has been read, so that slowness gives nothing up. */
export async function startFuzz(): Promise<Fuzz> {
  const service = await startHttpService({ limits: patient });
  const node = watchNodeServer(service.server.port);
  const account = await service.newAccount(credits);
  const booked = { accepted: 0, charged: 0 };
  const send: Fuzz['send'] = async (kind, seed, count) => {
    const source = dice(seed);
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent += atOnce) {
      const requests = Array.from({ length: atOnce }, () => makers[kind](source, account.key));
      const exchanges = requests.map((bytes) => exchange(service, bytes, booked));
      // Its answer comes after the bytes that were sent before it have been read.
      assert.equal((await service.send('GET', '/healthz')).status, 200);
      node.limit(1);
      // Node closes an idle connection itself only a second after its limit.
      const closing = setInterval(() => node.server().closeIdleConnections(), 20).unref();
      statuses.push(...(await Promise.all(exchanges)).flat());
      clearInterval(closing);
      node.limit(patient.requestTimeout);
    }
    return statuses;
  };
  const assertSound = async () => {
    assert.ok(booked.accepted > 0, 'some requests must survive, or the fuzz never came past the first check');
    const { balance } = (await findAccount(service.database.db, account.accountId)) ?? { balance: 0 };
    assert.equal(credits - balance, booked.charged);
    assert.deepEqual(await auditLedger(service.database.db), []);
    assert.deepEqual(
      service.log.filter(({ level }) => Number(level) >= 50),
      [],
    );
  };
  const close = async () => {
    node[Symbol.dispose]();
    await service.close();
  };
  return { send, assertSound, close };
}

type Booked = { accepted: number; charged: number };

/** Sends bytes and checks every answer that comes before the server closes. */
async function exchange({ server }: HttpService, bytes: Buffer, booked: Booked): Promise<readonly number[]> {
  const connection = rawConnection(server.port);
  connection.write(bytes);
  const shown = () => bytes.subarray(0, 2_000).toString('latin1');
  const answers = answersIn(await connection.closed, shown);
  for (const { status, json } of answers) {
    assert.ok(status < 500, `${status} for ${JSON.stringify(shown())}`);
    if (status !== 200 || json.data['creditsCharged'] === undefined) continue;
    booked.accepted += 1;
    booked.charged += Number(json.data['creditsCharged']);
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

const makers = {
  http: (source: Dice, key: string) => brokenBytes(source, request(JSON.stringify(plainRequest), source, key)),
  json: (source: Dice, key: string) => {
    const body = Buffer.from(brokenRequest(source));
    return request(source.roll() < 0.15 ? brokenBytes(source, body) : body, source, key);
  },
};

function request(body: string | Buffer, { roll, pick }: Dice, key: string): Buffer {
  const path =
    roll() < 0.9 ? '/api/v1/jobs/createTask' : pick(['/api/v1/callbacks/redeliver', '/api/v1/callbacks/secret/rotate']);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(roll() < 0.8 ? ['Connection: close'] : []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

/** A fuzz that gets one and the same answer to everything tests nothing. */
export function assertVaried(statuses: readonly number[], wanted: readonly number[]): void {
  for (const expected of wanted) assert.ok(statuses.includes(expected), `never ${expected}`);
}
