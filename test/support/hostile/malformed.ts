/** A seeded source of randomness: the same seed makes the same requests on every machine. */
export type Dice = {
  /** 0 to 1, without 1. */
  readonly roll: () => number;
  /** A whole number from 0 to `below`, without it. */
  readonly upTo: (below: number) => number;
  readonly pick: <T>(items: readonly [T, ...T[]]) => T;
};

/** Mulberry32. */
export function dice(seed: number): Dice {
  let state = seed;
  const roll = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const upTo = (below: number) => Math.floor(roll() * below);
  return { roll, upTo, pick: (items) => items[upTo(items.length)] ?? items[0] };
}

const fragments = [
  '\r\n',
  '\n',
  '\r\n\r\n',
  '\0',
  ' ',
  ':',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Content-Length: 5, 6\r\n',
  'Content-Encoding: gzip\r\n',
  'Content-Type: text/plain\r\n',
  'Expect: 100-continue\r\n',
  'Expect: the impossible\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'Host: a\r\nHost: b\r\n',
  'Prefer: wait=1e9\r\n',
  'Idempotency-Key: \u0001\r\n',
  'Authorization: Bearer vg_\r\n',
  'X: \xff\xfe\r\n',
  ' folded\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\n\r\n',
  'CONNECT x:1 HTTP/1.1\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  '../',
  '%',
  '%00',
  '?taskId[]=1&taskId=%ff',
  `X-Long: ${'x'.repeat(20_000)}\r\n`,
] as const;

/** Breaks well-formed bytes in one to three ways. */
export function brokenBytes({ roll, upTo, pick }: Dice, bytes: Buffer): Buffer {
  let broken = bytes;
  for (let times = 1 + upTo(3); times > 0; times -= 1) {
    const at = upTo(broken.length + 1);
    const end = at + upTo(roll() < 0.8 ? 12 : broken.length + 1);
    const [head, tail] = [broken.subarray(0, at), broken.subarray(at)];
    broken = pick([
      () => Buffer.concat([head, Buffer.from(pick(fragments), 'latin1'), tail]),
      () => Buffer.concat([head, Buffer.from([upTo(256)]), tail.subarray(1)]),
      () => Buffer.concat([head, broken.subarray(end)]),
      () => Buffer.concat([head, broken.subarray(at, end), tail]),
      () => (roll() < 0.2 ? head : Buffer.concat([tail, head])),
    ])();
  }
  return broken;
}

/** Values that have broken services, as JSON text, because `JSON.stringify` cannot make some of them. */
const nastyTexts = [
  'null',
  'true',
  '0',
  '-0',
  '1e400',
  '-1e400',
  '4.4999999999999999',
  '9007199254740993',
  '""',
  '" \u00a0 "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\u202e\u2066"',
  '"http://[::ffff:127.0.0.1]:80/"',
  '"http://0x7f.1/"',
  '"javascript:alert(1)"',
  '"file:///etc/passwd"',
  `"https://a.example/${'a'.repeat(3_000)}"`,
  `"${'😀'.repeat(5_001)}"`,
  '[]',
  '{}',
  '[null]',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
  `[${Array.from({ length: 2_000 }, () => '"https://a.example/"').join()}]`,
  '{"__proto__":{"model":"videogen-2.0"}}',
  '{"constructor":{"prototype":{}}}',
  '{"length":9,"0":"https://a.example/"}',
  '"${7*7}{{7*7}}\'; drop table tasks; --"',
] as const;

const nastyNames = [
  '__proto__',
  'constructor',
  'toString',
  'videoUrls',
  'promt',
  '',
  'a'.repeat(500),
  '\\u0000',
  'duration',
] as const;

/** A create request, as JSON text, that may break any rule; now and then it is a good one. */
export function brokenRequest(source: Dice): string {
  const { roll, upTo, pick } = source;
  const value = (good: string) => (roll() < 0.15 ? pick(nastyTexts) : good);
  const members = (entries: readonly (readonly [string, string])[]) => {
    const kept = entries.filter(() => roll() < 0.93).map(([name, text]) => `"${name}":${value(text)}`);
    if (roll() < 0.25) kept.splice(upTo(kept.length + 1), 0, `"${pick(nastyNames)}":${pick(nastyTexts)}`);
    return `{${kept.join()}}`;
  };
  const input = members([
    ['prompt', '"A lighthouse in the fog"'],
    ['duration', '4'],
    ['ratio', '"1:1"'],
    ['generateAudio', 'false'],
    ['imageUrls', '["https://a.example/1.png"]'],
  ]);
  return members([
    ['model', '"videogen-2.0-fast"'],
    ['input', input],
    ['callBackUrl', '"https://a.example/hook"'],
  ]);
}
