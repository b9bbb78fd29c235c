import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenApiDescription, DescribedOperation } from '../../../src/api/docs/openapi-types-and-lookups.ts';
import { operationSection, operationSamples } from '../../../src/api/docs/operation-section.ts';
import type { ReferenceEntry } from '../../../src/api/docs/samples/example-request.ts';

// The reference shows any OpenAPI operation: these are spelled unlike ours.

const baseUrl = 'https://video.example.com';
const description: OpenApiDescription = {
  info: {},
  components: {
    schemas: {
      Video: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          next: { $ref: '#/components/schemas/Video' },
          size: { enum: ['a', 'b'] },
        },
      },
    },
    responses: { Failed: { description: 'The error of another API' } },
  },
};
const video = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Video' } } } };

function shown(method: string, path: string, described: DescribedOperation) {
  const entry: ReferenceEntry = { operationId: 'one', method, path, scope: 'tasks:read', described };
  const options = { baseUrl, usesOwnClients: true };
  const samples = Object.fromEntries(
    operationSamples(description, entry, options).map(({ language, text }) => [language, text] as const),
  );
  const section = operationSection(description, entry, options).html.replaceAll(/\s+/g, ' ');
  return { samples, section };
}

test('a DELETE with a parameter in its path, whose response is no envelope', () => {
  const { samples, section } = shown('delete', '/v1/videos/{id}', {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', example: 'video 1' } }],
    responses: { 200: video, 404: { $ref: '#/components/responses/Failed' } },
  });
  assert.match(samples['sh'] ?? '', /^curl 'https:\/\/video\.example\.com\/v1\/videos\/video%201' \\\n {2}-X DELETE/);
  assert.match(samples['ts'] ?? '', /method: 'DELETE'/);
  assert.match(samples['python'] ?? '', /httpx\.delete\(/);
  assert.match(section, />DELETE<\/span> ?<code>\/v1\/videos\/\{id\}<\/code>/);
  assert.match(section, /<h4>Path<\/h4>/);
  assert.match(section, /<td>404<\/td> ?<td><\/td> ?<td>The error of another API<\/td>/);
  assert.doesNotMatch(section, /Fields of <code>data<\/code>/);
});

test('a response that is a file', () => {
  const file = { content: { 'video/mp4': { schema: { type: 'string', format: 'binary' } } } };
  const { samples, section } = shown('get', '/v1/videos/{id}/content', { responses: { 200: file } });
  assert.match(samples['sh'] ?? '', /-L -o video\.mp4/);
  assert.match(samples['ts'] ?? '', /writeFile\('video\.mp4'/);
  assert.match(samples['python'] ?? '', /follow_redirects=True/);
  assert.match(section, /<h4>Response 200<\/h4> ?<p class="limits"><code>video\/mp4<\/code><\/p>/);
});

test('fields of schemas that refer to themselves end, and texts are escaped', () => {
  const { section } = shown('get', '/v1/videos', {
    summary: 'A <b>summary</b>',
    description: 'Costs < 5 & more. `<script>` <script>',
    responses: { 200: video },
  });
  assert.match(section, /Fields of next/);
  assert.match(section, /Values: ?<code>a<\/code>, ?<code>b<\/code>/);
  assert.match(section, /A &#60;b&#62;summary/);
  assert.match(section, /Costs &lt; 5 &amp; more\. <code>&#60;script&#62;<\/code> &#60;script&#62;/);
});
