import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer } from '../../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../../support/service/http-service.ts';
import { holdRepeatWindow } from '../../../support/service/repeat-merging.ts';
import { plainImage } from '../../../support/hostile/hostile-images.ts';

// Bodies of other APIs: a form with files, or JSON with files as data URLs.

let service: HttpService;
let key: string;
let accountId: string;
let png: Buffer;
before(async () => {
  service = await startHttpService();
  ({ key, accountId } = await service.newAccount(10_000));
  png = await plainImage(320, 320).png().toBuffer();
});
after(() => service.close());

const model = 'videogen-2.0-fast';

async function post(form: FormData): Promise<Answer> {
  const request = new Request('http://form.test', { method: 'POST', body: form });
  return send(Buffer.from(await request.arrayBuffer()), String(request.headers.get('content-type')));
}

function send(body: Buffer | string, type: string): Promise<Answer> {
  return service.send('POST', '/v1/videos', {
    body,
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
  });
}

function formOf(...fields: readonly (readonly [name: string, value: string | Blob])[]): FormData {
  const form = new FormData();
  for (const [name, value] of [['model', model] as const, ['prompt', 'a boat'] as const, ...fields]) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'file.png');
  }
  return form;
}

function taskIdOf({ status, bytes }: Answer): string {
  const video: unknown = JSON.parse(bytes.toString());
  assert.equal(status, 200, bytes.toString());
  assert.ok(typeof video === 'object' && video !== null && 'id' in video && typeof video.id === 'string');
  return video.id;
}

async function imageUrls(taskId: string): Promise<readonly string[]> {
  const { json } = await service.recordInfo(key, taskId);
  return (json.data['param'] as { input: { imageUrls: string[] } }).input.imageUrls;
}

async function uploads(): Promise<number> {
  const text = 'select count(*)::int as count from uploads where account_id = $1';
  const [row] = await service.database.db.run<{ count: number }>({ name: 'test-uploads', text }, [accountId]);
  return row?.count ?? NaN;
}

test('a file of a form and the same file as a data URL are stored once, as an upload of the account', async () => {
  const file = new Blob([new Uint8Array(png)], { type: 'image/png' });
  const fromForm = await imageUrls(taskIdOf(await post(formOf(['input_reference', file]))));
  const dataUrl = `data:image/png;base64,${png.toString('base64')}`;
  const body = JSON.stringify({ model, prompt: 'a boat', input_reference: dataUrl });
  const fromJson = await imageUrls(taskIdOf(await send(body, 'application/json')));
  assert.match(String(fromForm[0]), /^http:\/\/media\.test\/media\/uploads\/[0-9a-f-]{36}\/image\.jpg$/);
  assert.deepEqual(fromJson, fromForm);
  assert.equal(await uploads(), 1);
});

test('a create with a file that an SDK repeats is one task', async () => {
  await holdRepeatWindow(service.database.db);
  const file = new Blob([new Uint8Array(png)], { type: 'image/png' });
  const request = new Request('http://form.test', {
    method: 'POST',
    body: formOf(['input_reference', file], ['seconds', '7']),
  });
  const [body, type] = [Buffer.from(await request.arrayBuffer()), String(request.headers.get('content-type'))];
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  const first = await service.send('POST', '/v1/videos', { body, headers });
  const repeat = await service.send('POST', '/v1/videos', {
    body,
    headers: { ...headers, 'x-stainless-retry-count': '1' },
  });
  assert.equal(taskIdOf(repeat), taskIdOf(first));
  assert.equal(repeat.headers['idempotency-replayed'], 'true');
});

test('a boundary may be short, also if the file contains it', async () => {
  for (const boundary of ['B', '-', 'x1', 'a'.repeat(70)]) {
    const head = (name: string, more = '') =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n`;
    const file = Buffer.concat([png, Buffer.from(`--${boundary} \r\n--${boundary}x \n--${boundary}\r\n${boundary}`)]);
    const body = Buffer.concat([
      Buffer.from(`${head('model')}\r\n${model}\r\n${head('prompt')}\r\n${boundary} --${boundary}\r\n`),
      Buffer.from(`${head('input_reference', '; filename="f.png"')}content-type: image/png\r\n\r\n`),
      file,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const answer = await send(body, `multipart/form-data; boundary=${boundary}`);
    assert.equal(answer.status, 200, answer.bytes.toString());
    assert.equal((JSON.parse(answer.bytes.toString()) as { prompt: string }).prompt, `${boundary} --${boundary}`);
  }
});

test('422 a field named __proto__ is unknown, in a form and as JSON', async () => {
  const answers = [
    await post(formOf(['__proto__', 'x'])),
    await post(formOf(['__proto__[prompt]', 'x'])),
    await send(`{"model":"${model}","prompt":"a boat","__proto__":{"prompt":"x"}}`, 'application/json'),
  ];
  for (const { status, bytes } of answers) {
    assert.equal(status, 422);
    assert.match(bytes.toString(), /__proto__: unknown field/);
  }
});

test('400 a form that breaks off, or has no boundary', async () => {
  const whole = `--x\r\nContent-Disposition: form-data; name="prompt"\r\n\r\na boat\r\n`;
  for (const [body, type] of [
    [whole, 'multipart/form-data; boundary=x'],
    [`${whole}--x--\r\n`, 'multipart/form-data'],
    ['nonsense', 'multipart/form-data; boundary=x'],
  ] as const) {
    const answer = await send(body, type);
    assert.equal(answer.status, 400, answer.bytes.toString());
    assert.match(answer.bytes.toString(), /"malformed_form"/);
  }
});

test('422 a file that is no image, a data URL that is not base64, and text with NUL characters', async () => {
  const earlier = await uploads();
  const text = new Blob(['not an image'], { type: 'image/png' });
  for (const [answer, message] of [
    [await post(formOf(['input_reference', text])), /the file is plain text; send a JPEG/],
    [await post(formOf(['seconds', '4\0'])), /seconds: must not contain NUL/],
    [
      await post(formOf(['input_reference', 'data:image/png;base64,***'])),
      /input_reference\[0\]: must be an http or https URL/,
    ],
  ] as const) {
    assert.equal(answer.status, 422, answer.bytes.toString());
    assert.match(answer.bytes.toString(), message);
  }
  const longName = await post(formOf([`${'n'.repeat(70)}\0`, '1']));
  assert.match(longName.bytes.toString(), /"param":"n{64}"/);
  assert.equal(await uploads(), earlier);
});

test('415 for a body that is neither lists what the endpoint reads', async () => {
  const { status, headers } = await send('{}', 'text/plain');
  assert.deepEqual([status, headers['accept-post']], [415, 'multipart/form-data, application/json']);
});

test('422 a form with more fields than any API has, however large it is', async () => {
  const part = '--x\r\nContent-Disposition: form-data; name="a[]"\r\n\r\n1\r\n';
  const most = await send(`${part.repeat(200)}--x--\r\n`, 'multipart/form-data; boundary="x"');
  assert.match(most.bytes.toString(), /"param":"(?!the form)[a-z]+"/, 'a form with as many fields as allowed is read');
  for (const count of [201, 200_000]) {
    const answer = await send(`${part.repeat(count)}--x--\r\n`, 'multipart/form-data; boundary=x');
    assert.equal(answer.status, 422, answer.bytes.toString());
    assert.match(answer.bytes.toString(), /the form must have at most 200 fields/);
  }
});

const manyParts = '--x\r\nContent-Disposition: form-data; name="a[]"\r\n\r\n1\r\n'.repeat(1_000);
for (const type of [
  'multipart/form-data; a="; boundary=y"; boundary=x',
  'multipart/form-data; boundary=y; boundary=x',
  'multipart/form-data; boundary="\\x"',
]) {
  test(`400 a form whose boundary could be read in two ways: ${type}`, async () => {
    const answer = await send(`${manyParts}--x--\r\n`, type);
    assert.equal(answer.status, 400, answer.bytes.toString());
    assert.match(answer.bytes.toString(), /"malformed_form"/);
  });
}

for (const [name, body] of [
  ['fields', `{${Array.from({ length: 1_000_000 }, (_, index) => `"${index}":0`).join()}}`],
  ['values of a list', `{"model":"${model}","prompt":"a boat","frame_images":[${'0,'.repeat(7_000_000)}0]}`],
  ['values after a string with quotes', `{"a\\"":"\\\\","b":[${'0,'.repeat(10_000)}0]}`],
] as const) {
  test(`422 a JSON body with more ${name} than any API has`, async () => {
    const answer = await send(body, 'application/json');
    assert.equal(answer.status, 422, answer.bytes.toString());
    assert.match(answer.bytes.toString(), /the body must have at most 10000 values/);
  });
}

test('422 millions of open brackets, which are never parsed', async () => {
  const answer = await send('['.repeat(16 * 1024 * 1024 - 1), 'application/json');
  assert.equal(answer.status, 422, answer.bytes.toString());
  assert.match(answer.bytes.toString(), /the body is nested deeper than 32 levels/);
});

test('commas in strings do not count as values', async () => {
  const prompt = `a boat, ${'"quoted", and \\, '.repeat(200)}`;
  const answer = await send(
    JSON.stringify({ model, prompt, input_reference: ','.repeat(200_000) }),
    'application/json',
  );
  assert.match(answer.bytes.toString(), /input_reference/, 'only the address is refused');
  assert.doesNotMatch(answer.bytes.toString(), /at most 10000 values/);
});
