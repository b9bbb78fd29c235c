import { codeBlock, samplesBlock } from './samples/code-block.ts';
import { curlSample } from './samples/curl-sample.ts';
import {
  typeAndSchemaOf,
  type OpenApiDescription,
  resolveSchema,
  resolveResponse,
  type OpenApiSchema,
  successResponseOf,
} from './openapi-types-and-lookups.ts';
import { exampleValue } from './samples/example-value.ts';
import { parameterListHtml, schemaFieldListHtml } from './field-list.ts';
import { type Html, html } from './html.ts';
import { blockMarkdown, inlineMarkdown } from './markdown.ts';
import { pythonSample } from './samples/python-sample.ts';
import { type ReferenceEntry, exampleRequest } from './samples/example-request.ts';
import { typeScriptSample } from './samples/typescript-sample.ts';

/** One endpoint: its purpose and contract, beside its samples. */
export function operationSection(description: OpenApiDescription, entry: ReferenceEntry, options: SampleOptions): Html {
  const { operationId, method, path, described } = entry;
  const { summary = operationId, description: text } = described;
  return html`<article class="operation" aria-labelledby="${operationId}">
    <div class="purpose">
      <h3 id="${operationId}">${summary}</h3>
      <p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
      ${text !== undefined && blockMarkdown(text)}
    </div>
    <div class="use">
      ${samplesBlock(operationSamples(description, entry, options), summary)} ${responseExample(description, entry)}
    </div>
    <div class="contract">
      ${requestParts(description, entry)} ${responsePart(description, entry)} ${errorsPart(description, entry)}
    </div>
  </article>`;
}

/** Customers of a service under another name have no clients of ours. */
export type SampleOptions = { readonly baseUrl: string; readonly usesOwnClients: boolean };

export function operationSamples(
  description: OpenApiDescription,
  entry: ReferenceEntry,
  { baseUrl, usesOwnClients }: SampleOptions,
) {
  const request = exampleRequest(description, entry, baseUrl);
  const client = usesOwnClients ? entry.operationId : undefined;
  const samples = [
    { language: 'sh', text: curlSample(request) },
    { language: 'ts', text: typeScriptSample(client, request) },
    { language: 'python', text: pythonSample(client, request) },
  ];
  if (usesOwnClients) return samples;
  // Only our clients read the variable by its name.
  return samples.map(({ language, text }) => ({ language, text: text.replaceAll('VIDEOGEN_', '') }));
}

const parameterTitles = { path: 'Path', query: 'Query', header: 'Headers' } as const;

function requestParts(
  description: OpenApiDescription,
  { described: { parameters = [], requestBody } }: ReferenceEntry,
): Html {
  const groups = Object.entries(parameterTitles).map(([where, title]) => {
    const found = parameters.filter((one) => one.in === where);
    return (
      found.length > 0 &&
      html`<h4>${title}</h4>
        ${parameterListHtml(description, found)}`
    );
  });
  return html`${groups}${bodyPart(description, requestBody?.content)}`;
}

function bodyPart(description: OpenApiDescription, content: Parameters<typeof typeAndSchemaOf>[0]): Html | undefined {
  const found = typeAndSchemaOf(content);
  if (content === undefined || found === undefined) return undefined;
  const [, schema] = found;
  const types = Object.keys(content).map((type, index) => html`${index > 0 && ', '}<code>${type}</code>`);
  return html`<h4>Body</h4>
    <p class="limits">${types}</p>
    ${schemaFieldListHtml(description, schema, { open: 2, marksRequired: true })}`;
}

function responsePart(description: OpenApiDescription, { described }: ReferenceEntry): Html | undefined {
  const success = successResponseOf(description, described);
  if (success === undefined) return undefined;
  const { status, type, schema } = success;
  const data = dataOf(description, schema);
  const note =
    data === undefined
      ? html`<p class="limits"><code>${type}</code></p>`
      : html`<p class="limits">Fields of <code>data</code>:</p>`;
  const fields = schemaFieldListHtml(description, data ?? schema, { open: 1, marksRequired: false });
  return html`<h4>Response ${status}</h4>
    ${note}${fields ?? (data !== undefined && html`<p>Empty.</p>`)}`;
}

/** The schema of `data` in our envelope; other shapes have none. */
function dataOf(description: OpenApiDescription, schema: OpenApiSchema): OpenApiSchema | undefined {
  const { properties = {} } = resolveSchema(description, schema).schema;
  return 'code' in properties && 'msg' in properties ? properties['data'] : undefined;
}

function responseExample(description: OpenApiDescription, { described }: ReferenceEntry): Html | undefined {
  const success = successResponseOf(description, described);
  if (success?.type.includes('json') !== true) return undefined;
  const text = JSON.stringify(exampleValue(description, success.schema, { isWhole: true }), undefined, 2);
  return html`<details class="example">
    <summary>Example of response ${success.status}</summary>
    ${codeBlock({ text }, 'Example of the response')}
  </details>`;
}

/** A description of ours lists its errors as "message (code); message (code)". */
const betweenErrors = /(?<=\([a-z_]+\)); /;

function errorsPart(
  description: OpenApiDescription,
  { described: { responses = {} } }: ReferenceEntry,
): Html | undefined {
  const failures = Object.entries(responses).filter(([status]) => !/^[23]/.test(status));
  const rows = failures.flatMap(([status, response]) =>
    (resolveResponse(description, response).description ?? '').split(betweenErrors).map((text) => {
      const [, message = text, code] = /^(.*) \(([a-z_]+)\)$/s.exec(text) ?? [];
      return html`<tr>
        <td>${status}</td>
        <td>${code !== undefined && html`<code>${code}</code>`}</td>
        <td>${inlineMarkdown(message)}</td>
      </tr>`;
    }),
  );
  if (rows.length === 0) return undefined;
  return html`<details class="errors">
    <summary>Errors (${rows.length})</summary>
    <div class="table" tabindex="0" role="group" aria-label="Errors">
      <table>
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Error</th>
            <th scope="col">Message</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`;
}
