import { type Description, type Parameter, resolve } from './description.ts';
import { type Html, html } from './html.ts';
import { type Entry, exampleBody } from './request.ts';

/** Returns the price of a request to createTask without charging it. */
const pricePath = '/api/v1/jobs/price';

/** The form that src/console/docs/try-it.ts sends. */
export function tryIt(description: Description, entry: Entry): Html {
  const { operationId, method, path, scope, isCharged, described } = entry;
  const parameters = described.parameters ?? [];
  const access = scope === 'none' ? 'none' : 'credential';
  return html`<details
    class="try"
    data-method="${method.toUpperCase()}"
    data-path="${path}"
    data-access="${access}"
    ${isCharged && 'data-charged'}
    ${operationId === 'createTask' && html`data-price="${pricePath}"`}
  >
    <summary>Try it</summary>
    <form>
      ${parameters.map((parameter) => parameterInput(description, parameter, operationId))}
      ${bodyInputs(description, entry)}
      ${isCharged && html`<p class="charge">This creates a real task and charges the account. A failed task is refunded in full.</p>`}
      <div class="row">
        <button type="submit" class="button primary">${isCharged ? 'Send, and charge credits' : 'Send request'}</button>
      </div>
    </form>
    <div class="answer" role="status"></div>
  </details>`;
}

function parameterInput(
  description: Description,
  { name, in: where, required, schema = {} }: Parameter,
  operationId: string,
): Html {
  const { schema: found } = resolve(description, schema);
  const values = (found.enum ?? []).filter((value) => value !== null).map(String);
  const id = `try-${operationId}-${name}`;
  const isRequired = (required === true || where === 'path') && 'required';
  const input =
    values.length > 0
      ? html`<select class="input" id="${id}" name="${name}" data-in="${where}" ${isRequired}>
          <option value=""></option>
          ${values.map((value) => html`<option>${value}</option>`)}
        </select>`
      : html`<input
          class="input"
          id="${id}"
          name="${name}"
          data-in="${where}"
          ${isRequired}
          autocomplete="off"
          spellcheck="false"
        />`;
  return html`<div class="field">
    <label for="${id}"><code>${name}</code></label
    >${input}
  </div>`;
}

function bodyInputs(description: Description, { operationId, described }: Entry): Html | undefined {
  const body = exampleBody(description, described);
  if (body === undefined) return undefined;
  const types = Object.keys(described.requestBody?.content ?? {});
  const id = `try-${operationId}-body`;
  if (body.kind === 'file')
    return html`<div class="field">
      <label for="${id}">File</label>
      <input class="input" type="file" id="${id}" data-in="file" accept="${types.join(',')}" required />
    </div>`;
  return html`<div class="field">
    <label for="${id}">Body</label>
    <textarea class="input code-input" id="${id}" data-in="json" spellcheck="false" rows="6">
${JSON.stringify(body.value, undefined, 2)}</textarea>
  </div>`;
}
