import type { DocsLink, PageOutline } from './list-and-render-documents.ts';
import { type Html, html } from './html.ts';

const groups: readonly { readonly title: string; readonly links: readonly DocsLink[] }[] = [
  {
    title: 'Use the API',
    links: [
      { href: '/docs', text: 'Quickstart' },
      { href: '/docs/api', text: 'Guide' },
      { href: '/docs/reference', text: 'API reference' },
      { href: '/docs/clients', text: 'Clients of other APIs' },
      { href: '/docs/mcp', text: 'Agents (MCP)' },
      { href: '/docs/dialect-kie', text: 'Clients of kie.ai' },
    ],
  },
  {
    title: 'Run the service',
    links: [
      { href: '/docs/readme', text: 'Getting started' },
      { href: '/docs/tutorial', text: 'Tutorial' },
      { href: '/docs/providers', text: 'Connect a model' },
      { href: '/docs/models', text: 'Models' },
      { href: '/docs/operations', text: 'Operations' },
      { href: '/docs/reference/operators', text: 'Operator endpoints' },
      { href: '/docs/concepts', text: 'Concepts' },
      { href: '/docs/scaling', text: 'Scaling' },
      { href: '/docs/troubleshooting', text: 'Troubleshooting' },
    ],
  },
];

/** The pages with these routes, and the outline of the current one. */
export function docsNavigation(served: ReadonlySet<string>, current: string, outline: PageOutline): Html {
  const shown = groups.map(({ title, links }) => ({ title, links: links.filter(({ href }) => served.has(href)) }));
  return html`${shown.map(
    ({ title, links }) =>
      links.length > 0 &&
      html`<p class="group">${title}</p>
        <ul>
          ${links.map((link) => pageItem(link, current, outline))}
        </ul>`,
  )}`;
}

function pageItem({ href, text }: DocsLink, current: string, outline: PageOutline): Html {
  const isCurrent = href === current;
  return html`<li>
    <a href="${href}" ${isCurrent && 'aria-current=page'}>${text}</a>
    ${
      isCurrent &&
      outline.map(
        ({ title, links }) =>
          html`${title !== undefined && html`<p class="part">${title}</p>`}
            <ul class="outline">
              ${links.map((link) => html`<li><a href="${link.href}">${link.text}</a></li>`)}
            </ul>`,
      )
    }
  </li>`;
}
