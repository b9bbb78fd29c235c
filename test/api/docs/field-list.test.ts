import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parameterListHtml, schemaFieldListHtml } from '../../../src/api/docs/field-list.ts';
import type { Html } from '../../../src/api/docs/html.ts';
import { operationSamples, operationSection } from '../../../src/api/docs/operation-section.ts';
import type {
  DescribedOperation,
  OpenApiDescription,
  OpenApiSchema,
} from '../../../src/api/docs/openapi-types-and-lookups.ts';

const refTo = (name: string): OpenApiSchema => ({ $ref: `#/components/schemas/${name}` });
const description: OpenApiDescription = {
  info: {},
  components: {
    schemas: {
      Video: { type: 'object', required: ['deep'], properties: { deep: refTo('Deep') } },
      Deep: { type: 'object', properties: { flag: { type: 'boolean' } } },
      Node: { type: 'object', properties: { next: refTo('Node') } },
    },
  },
};

/** The text of markup: `-` begins a field, `#` a heading, `|` a row, and brackets enclose what can be opened. */
function textOf(markup: Html | undefined): string {
  return (markup?.html ?? '')
    .replaceAll('<li>', ' - ')
    .replaceAll('<p>', ' ')
    .replaceAll('<h4>', ' # ')
    .replaceAll('<tr>', ' | ')
    .replaceAll('<details class="nested" open>', ' [open ')
    .replaceAll('<details class="nested" >', ' [closed ')
    .replaceAll('<details class="errors">', ' [errors ')
    .replaceAll('</details>', ' ] ')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const fieldsOf = (schema: OpenApiSchema, open = 1, marksRequired = true) =>
  textOf(schemaFieldListHtml(description, schema, { open, marksRequired }));

for (const [schema, text] of [
  [{ type: 'string', minLength: 1, maxLength: 36, description: 'An *id*.' }, 'string An id. At most 36 characters.'],
  [{ type: 'string', minLength: 2 }, 'string At least 2 characters.'],
  [{ type: 'integer', minimum: 1, maximum: 20, default: 5 }, 'integer At least 1, at most 20. Default: 5.'],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1500 }, 'number More than 0, less than 1,500.'],
  [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 'integer At least 0.'],
  [{ type: 'integer', maximum: 9 }, 'integer At most 9.'],
  [{ type: 'integer', exclusiveMaximum: 9 }, 'integer Less than 9.'],
  [
    { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 9 },
    'array of string At least 2, at most 9 items.',
  ],
  [{ type: 'array' }, 'array of values'],
  [{ enum: ['a', 1, null] }, 'any value Values: a, 1.'],
  [{ enum: ['x'] }, 'any value Value: x.'],
  [{ type: 'string', default: 'd' }, 'string Default: d.'],
  [{ type: ['string', 'null'], format: 'uri' }, 'string, URL or null'],
  [{ type: 'string', format: 'date-time' }, 'string, date-time'],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'string' }] }, 'string or integer'],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] }, 'string or integer or null'],
  [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'object [open Fields of one - any name boolean ]'],
  [{ type: 'object', additionalProperties: {} }, 'object'],
  [{ type: 'object', additionalProperties: true }, 'object'],
  [{ properties: {} }, 'object'],
  [{}, 'any value'],
  [refTo('Deep'), 'Deep [open Fields of one - flag boolean ]'],
  [{ type: 'array', items: refTo('Deep') }, 'array of Deep [open Fields of one - flag boolean ]'],
] as readonly (readonly [schema: OpenApiSchema, text: string])[]) {
  test(`the field ${JSON.stringify(schema)} is described: ${text}`, () =>
    assert.equal(fieldsOf({ properties: { one: schema } }), `- one ${text}`));
}

test('fields inside others are open to a depth, and required ones are marked in requests', () => {
  const schema: OpenApiSchema = { required: ['a'], properties: { a: { type: 'string' }, video: refTo('Video') } };
  const inner = (word: string, mark: string) => `deep Deep${mark} [${word} Fields of deep - flag boolean ]`;
  assert.equal(
    fieldsOf(schema),
    `- a string required - video Video [open Fields of video - ${inner('closed', ' required')} ]`,
  );
  assert.equal(
    fieldsOf(schema, 2),
    `- a string required - video Video [open Fields of video - ${inner('open', ' required')} ]`,
  );
  assert.equal(
    fieldsOf(schema, 0, false),
    `- a string - video Video [closed Fields of video - ${inner('closed', '')} ]`,
  );
});

test('alternatives have their fields, and the first one is open', () => {
  const schema: OpenApiSchema = {
    anyOf: [refTo('Deep'), { type: 'string' }, { properties: { b: { type: 'boolean' } } }],
  };
  assert.equal(fieldsOf(schema), 'One of: [open Deep - flag boolean ] [closed Alternative 3 - b boolean ]');
  assert.equal(fieldsOf(schema, 0), 'One of: [closed Deep - flag boolean ] [closed Alternative 3 - b boolean ]');
  assert.equal(fieldsOf({ anyOf: [{ type: 'string' }, { type: 'boolean' }] }), '');
});

test('fields that contain themselves, and long lists of values, are cut', () => {
  assert.equal(fieldsOf(refTo('Node')).match(/Fields of next/g)?.length, 7);
  const values = Array.from({ length: 41 }, (_, index) => index);
  const textOfValues = (count: number) => fieldsOf({ properties: { one: { enum: values.slice(0, count) } } });
  assert.ok(textOfValues(40).endsWith(', 38, 39.'));
  assert.ok(textOfValues(41).endsWith(', 38, 39, ….'));
});

test('a parameter has its own description, or that of its schema', () => {
  const parameters = [
    { name: 'a', in: 'query', required: true, schema: { type: 'string', description: 'Inner' }, description: 'Outer' },
    { name: 'b', in: 'query', schema: { type: 'string', description: 'Inner' } },
    { name: 'c', in: 'query' },
    { name: 'd', in: 'query', schema: refTo('Deep') },
  ];
  assert.equal(
    textOf(parameterListHtml(description, parameters)),
    '- a string required Outer - b string Inner - c any value - d Deep [open Fields of d - flag boolean ]',
  );
});

const options = { baseUrl: 'https://video.example', usesOwnClients: true };
const entryOf = (described: DescribedOperation, operationId = 'makeVideo') =>
  ({ operationId, method: 'post', path: '/v1/videos/{id}', scope: 'tasks:write', described }) as const;
const sectionOf = (described: DescribedOperation) => operationSection(description, entryOf(described), options).html;
const contractOf = (described: DescribedOperation) =>
  textOf({ html: sectionOf(described).split('<div class="contract">')[1] ?? '' });
const jsonOf = (schema: OpenApiSchema) => ({ content: { 'application/json': { schema } } });
const envelope = (data: OpenApiSchema): OpenApiSchema => ({ properties: { code: {}, msg: {}, data } });

test('the contract of an operation has its parameters by place, its body, its response and its errors', () => {
  const described = {
    parameters: [
      { name: 'X-A', in: 'header', schema: { type: 'string' } },
      { name: 'limit', in: 'query', schema: { type: 'integer' } },
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    ],
    requestBody: {
      content: {
        'multipart/form-data': { schema: {} },
        ...jsonOf({ required: ['a'], properties: { a: { type: 'string' }, video: refTo('Video') } }).content,
      },
    },
    responses: {
      200: jsonOf(envelope({ required: ['id'], properties: { id: { type: 'string' }, video: refTo('Video') } })),
      402: { description: 'too poor (insufficient_credits); too *late* (too_late)' },
      500: { description: 'broken' },
    },
  };
  assert.equal(
    contractOf(described),
    '# Path - id string required # Query - limit integer # Headers - X-A string ' +
      '# Body multipart/form-data, application/json - a string required - video Video [open Fields of video ' +
      '- deep Deep required [open Fields of deep - flag boolean ] ] ' +
      '# Response 200 Fields of data: - id string - video Video [open Fields of video ' +
      '- deep Deep [closed Fields of deep - flag boolean ] ] ' +
      '[errors Errors (3) | Status Error Message | 402 insufficient_credits too poor | 402 too_late too late | 500 broken ]',
  );
});

test('a response without fields is empty, and an operation without a body or errors has no such part', () => {
  assert.equal(
    contractOf({ responses: { 200: jsonOf(envelope({ type: 'object' })) } }),
    '# Response 200 Fields of data: Empty.',
  );
  assert.equal(
    contractOf({ responses: { 201: jsonOf(refTo('Deep')) } }),
    '# Response 201 application/json - flag boolean',
  );
  assert.equal(contractOf({ responses: { 302: {} } }), '');
});

test('an operation has its summary, its route, its description and an example of its response', () => {
  const section = sectionOf({
    summary: 'Make a video',
    description: 'It *costs*.',
    responses: { 200: jsonOf(refTo('Video')) },
  });
  const spaced = section.replaceAll(/\s+/g, ' ');
  for (const part of [
    'aria-labelledby="makeVideo"',
    '<h3 id="makeVideo">Make a video</h3>',
    '<span class="method post">POST</span> <code>/v1/videos/{id}</code>',
    '<p>It <em>costs</em>.</p>',
    '<summary>Example of response 200</summary>',
  ])
    assert.ok(spaced.includes(part), part);
  const [, shown = ''] = /aria-label="Example of the response"><code>([\s\S]*?)<\/code>/.exec(section) ?? [];
  assert.deepEqual(JSON.parse(shown.replaceAll('&#34;', '"')), { deep: { flag: true } });
  assert.ok(sectionOf({}).includes('<h3 id="makeVideo">makeVideo</h3>'));
  const csv = { content: { 'text/csv': { schema: { type: 'string' } } } };
  assert.ok(!sectionOf({ responses: { 200: csv } }).includes('Example of response'));
});

test('samples use our clients, except those of a service under another name', () => {
  const samplesOf = (usesOwnClients: boolean) => {
    const samples = operationSamples(description, entryOf({}, 'getCredits'), { ...options, usesOwnClients });
    assert.deepEqual(
      samples.map(({ language }) => language),
      ['sh', 'ts', 'python'],
    );
    return samples.map(({ text }) => text).join('\n');
  };
  for (const own of ['videogen-client', 'videogen_gateway', 'VIDEOGEN_API_KEY']) {
    assert.ok(samplesOf(true).includes(own), own);
    assert.ok(!samplesOf(false).includes(own), own);
  }
  assert.equal(samplesOf(false).match(/(?<!\w)API_KEY/g)?.length, 3);
});
