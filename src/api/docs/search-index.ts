/** A heading of a page, with the words of the text below it. */
export type SearchEntry = {
  readonly href: string;
  readonly title: string;
  readonly page: string;
  readonly words: string;
};

const heading = /<h[1-4] id="([^"]+)"[^>]*>([\s\S]*?)<\/h[1-4]>/g;

export function searchEntriesOfPage(route: string, page: string, markup: string): readonly SearchEntry[] {
  const found = [...markup.matchAll(heading)];
  return found.map(({ index, 0: whole, 1: id = '', 2: title = '' }, at) => {
    const text = textOf(markup.slice(index + whole.length, found[at + 1]?.index));
    const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}_./-]+/gu) ?? []);
    return { href: `${route}#${id}`, title: textOf(title), page, words: [...words].join(' ') };
  });
}

/** The markup is our own, whose characters are escaped by number or by one of these names. */
function textOf(markup: string): string {
  const text = markup.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  return text
    .replaceAll(/&#(\d+);/g, (_match, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .trim();
}
