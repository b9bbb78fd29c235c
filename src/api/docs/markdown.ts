import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock, hasTab, samplesBlock } from './samples/code-block.ts';
import { escapeHtml, type Html, trustedHtml } from './html.ts';

/** Maps links, images and inline code of a document to the addresses that they lead to; undefined for a target that is not served. */
export type LinkTargets = {
  readonly link: (href: string) => string | undefined;
  readonly image: (href: string) => string;
  readonly code: (text: string) => string | undefined;
};

const unchanged: LinkTargets = { link: (href) => href, image: (href) => href, code: () => undefined };

/** Descriptions contain names from the operator's catalogue, so markup in them is text. */
const descriptions = markedWith(unchanged).use({ renderer: { html: ({ text }) => escapeHtml(text) } });

export function inlineMarkdown(text: string): Html {
  return trustedHtml(descriptions.parseInline(text, { async: false }));
}

export function blockMarkdown(text: string): Html {
  return trustedHtml(descriptions.parse(text, { async: false }));
}

/** A whole document. Adjacent code blocks in several languages become tabs. */
export function documentMarkdown(text: string, targets: LinkTargets): Html {
  const marked = markedWith(targets);
  const html = marked.parser(groupSamples(marked.lexer(text)));
  // Makes wide tables scrollable by keyboard.
  const scrollable = html
    .replaceAll('<table>', '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>');
  return trustedHtml(scrollable);
}

function markedWith(targets: LinkTargets): Marked {
  return new Marked({
    // An address in a text is an example more often than a link.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ depth, text, tokens }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const target = targets.link(href);
        const inner = this.parser.parseInline(tokens);
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      image: ({ href, text }) => `<img src="${escapeHtml(targets.image(href))}" alt="${escapeHtml(text)}" />`,
      codespan: ({ text }) => {
        const [code, target] = [`<code>${escapeHtml(text)}</code>`, targets.code(text)];
        return target === undefined ? code : `<a href="${escapeHtml(target)}">${code}</a>`;
      },
      code: ({ text }) => codeBlock({ text }).html,
    },
  });
}

/** Makes the same anchor as GitHub, so that links work there and here. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function groupSamples(tokens: readonly Token[]): Token[] {
  const grouped: Token[] = [];
  let run: Tokens.Code[] = [];
  let name = 'this page';
  const close = () => {
    const samples = run.map(({ lang = '', text }) => ({ language: lang, text }));
    if (samples.length === 1) grouped.push(...run);
    else if (samples.length > 1) grouped.push(markup(samplesBlock(samples, name)));
    run = [];
  };
  for (const token of tokens) {
    if (token.type === 'space') continue;
    // Tokens of extensions have any type, but no extension is in use.
    const isSample = token.type === 'code' && hasTab((token as Tokens.Code).lang ?? '');
    if (isSample && !run.some(({ lang }) => lang === (token as Tokens.Code).lang)) {
      run.push(token as Tokens.Code);
      continue;
    }
    close();
    if (isSample) run.push(token as Tokens.Code);
    else grouped.push(token);
    if (token.type === 'heading') name = (token as Tokens.Heading).text.replaceAll('`', '');
  }
  close();
  return grouped;
}

function markup({ html }: Html): Tokens.HTML {
  return { type: 'html', raw: html, text: html, pre: false, block: true };
}
