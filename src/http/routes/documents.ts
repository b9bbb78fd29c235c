import type { Router } from '@koa/router';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Extras, RequestState } from '../context.ts';
import { HttpError } from '../errors.ts';
import { escapeHtml, showPage } from '../presenters/html-page.ts';

/** What is shown of the documentation, and where it lies in the package. */
const documents: Readonly<Record<string, string>> = {
  readme: '#readme',
  'dialect-kie': '#docs/dialect-kie.md',
  operations: '#docs/operations.md',
  scaling: '#docs/scaling.md',
};

/** `GET /docs/<name>`: documents that come with the program, for a reader in a browser. */
export function documentRoutes(router: Router<RequestState, Extras>): void {
  for (const [name, place] of Object.entries(documents)) {
    let page: ReturnType<typeof render> | undefined;
    router.get(`/docs/${name}`, async (ctx) => {
      page ??= render(place);
      await showPage(ctx, 'document', await page);
    });
  }
}

async function render(place: string) {
  const markdown = await readDocument(place);
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      link({ href, tokens }) {
        const target = targetOf(href);
        const inner = this.parser.parseInline(tokens);
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
    },
  });
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? 'Videogen';
  // Wide tables and long lines are scrolled by themselves, with the keyboard, too.
  const html = await marked.parse(markdown);
  const text = html
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
  return { title: escapeHtml(title), text };
}

/** A document that was left out of the installation is no endpoint of it. */
async function readDocument(place: string): Promise<string> {
  try {
    return await readFile(createRequire(import.meta.url).resolve(place), 'utf8');
  } catch (error) {
    throw new HttpError('unknown_endpoint', { cause: error });
  }
}

/** Links between documents lead to the pages that are shown; undefined for a file that is not. */
function targetOf(href: string): string | undefined {
  if (/^(?:https?:|#|\/)/.test(href)) return href;
  const name = /^(?:docs\/|\.\.\/)?(?<name>[\w-]+)\.md(?:#.*)?$/.exec(href)?.groups?.['name']?.toLowerCase() ?? '';
  return Object.hasOwn(documents, name) ? `/docs/${name}` : undefined;
}
