import { isWhiteLabel } from '../../platform/brand/brand.ts';
import type { WithModels } from '../../catalogue/models/model-type-and-name-lookup.ts';
import type { Endpoint } from '../core/define-endpoint.ts';
import { type Section, sections } from '../endpoints.ts';
import { openApiDocument } from '../openapi.ts';
import type { OpenApiDescription } from './openapi-types-and-lookups.ts';
import type { DocsPage, DocumentedService } from './list-and-render-documents.ts';
import { type Html, html } from './html.ts';
import { blockMarkdown } from './markdown.ts';
import { operationSection } from './operation-section.ts';
import type { ReferenceEntry } from './samples/example-request.ts';

export type Audience = 'clients' | 'operators';

const titles: Readonly<Record<Audience, string>> = {
  clients: 'API reference',
  operators: 'Operator and console endpoints',
};

/** The endpoints for these readers, with the models of this installation. */
export function referencePage(
  audience: Audience,
  offer: WithModels,
  { publicUrl, brand }: DocumentedService,
): DocsPage {
  // Our own generator wrote the document; the way through JSON drops undefined fields.
  const description = JSON.parse(JSON.stringify(openApiDocument(offer, brand.name))) as OpenApiDescription;
  const shown = sectionsFor(audience);
  const samples = { baseUrl: publicUrl, usesOwnClients: !isWhiteLabel(brand) };
  const main = html`<h1 id="top">${titles[audience]}</h1>
    <div class="lead">${introductions[audience](description, publicUrl)}</div>
    ${shown.map(
      ({ tag, description: text, endpoints }) =>
        html`<section class="tag" aria-labelledby="tag-${tag}">
          <h2 id="tag-${tag}">${titleOf(tag)}</h2>
          <div class="lead">${blockMarkdown(text)}</div>
          ${endpoints.map((endpoint) => operationSection(description, referenceEntryOf(endpoint, description), samples))}
        </section>`,
    )}`;
  return { title: titles[audience], main, outline: shown.map(outlineOf) };
}

function sectionsFor(audience: Audience): readonly Section[] {
  return sections.filter(({ isForOperators = false }) => isForOperators === (audience === 'operators'));
}

function outlineOf({ tag, endpoints }: Section) {
  return {
    title: titleOf(tag),
    links: endpoints.map(({ operationId, summary }) => ({ href: `#${operationId}`, text: summary })),
  };
}

export function referenceEntryOf(
  { operationId, method, path, scope }: Endpoint,
  description: OpenApiDescription,
): ReferenceEntry {
  const described = description.paths?.[path]?.[method];
  if (described === undefined) throw new Error(`the description lacks the operation ${operationId}`);
  return { operationId, method, path, scope, described };
}

function titleOf(tag: string): string {
  return tag.charAt(0).toUpperCase() + tag.slice(1);
}

const fact = (name: string, value: Html) =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

const introductions: Readonly<Record<Audience, (description: OpenApiDescription, publicUrl: string) => Html>> = {
  clients: ({ info }, publicUrl) =>
    html`${blockMarkdown(info.description ?? '')}
      <dl class="facts">
        ${fact('Base URL', html`<code>${publicUrl}</code>`)}
        ${fact(
          'Authentication',
          html`<code>Authorization: Bearer vg_…</code> with a key of the console’s page <em>Keys</em>`,
        )}
        ${fact('Description', html`<a href="/openapi.json">OpenAPI 3.1 document</a>`)}
      </dl>`,
  operators: (_description, publicUrl) =>
    html`<p>
        Endpoints for operators of the service, for pages of the console, and for load balancers. Clients use the
        <a href="/docs/reference">API reference</a>.
      </p>
      <dl class="facts">
        ${fact('Base URL', html`<code>${publicUrl}</code>`)}
        ${fact('Operators', html`<code>Authorization: Bearer vgop_…</code>`)}
        ${fact('Console', html`the cookie of a session, and the headers that the section describes`)}
      </dl>`,
};
