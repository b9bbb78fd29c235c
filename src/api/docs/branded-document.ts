import { Marked, type Token, type Tokens } from 'marked';
import { asciiBrandName } from '../../platform/brand/brand.ts';

/** The documents that a service under another name serves. The rest is about running the software. */
export const whiteLabelDocuments: readonly string[] = ['quickstart', 'api', 'clients', 'mcp', 'dialect-kie'].map(
  (name) => `docs/${name}.md`,
);

/** Our packages and our command line, which customers of such a service do not have, and services that are chained to each other. */
const ownPrograms =
  /videogen-(?:client|gateway)|videogen_gateway|`videogen [a-z]|cli\/cli\.js|another Videogen|Videogen (?:behind|\(`)|A Videogen/i;

const marked = new Marked();

/**
 * Rewrites a document for the customers of a service under another name. Paragraphs, samples, list items and table rows about our own
 * programs are left out. Names that are part of the protocol stay, such as `Videogen-Dialect`. The first model of the catalogue replaces
 * each one that is not in the catalogue.
 */
export function rewriteForWhiteLabel(markdown: string, name: string, models: readonly string[]): string {
  const token = asciiBrandName(name).toLowerCase();
  return marked
    .lexer(markdown)
    .map(partsForCustomers)
    .join('')
    .replaceAll('VIDEOGEN_API_KEY', 'API_KEY')
    .replaceAll(/videogen-2\.0(?:-fast)?/g, (own) => (models.includes(own) ? own : (models[0] ?? own)))
    .replaceAll(/(?<![\w-])Videogen(?![\w-])/g, () => name)
    .replaceAll(/(?<![\w.])videogen(?=-key|["\s])/g, () => token);
}

function partsForCustomers(token: Token): string {
  return partsOf(token)
    .filter((part) => !ownPrograms.test(part))
    .join('');
}

function partsOf(token: Token): readonly string[] {
  // Tokens of extensions have any type, but no extension is in use.
  if (token.type === 'list') return (token as Tokens.List).items.map(({ raw }) => raw);
  return token.type === 'table' ? token.raw.split(/(?<=\n)/) : [token.raw];
}
