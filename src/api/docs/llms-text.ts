import { whiteLabelDocuments } from './branded-document.ts';
import { documentRoutesOf, type DocumentedService } from './list-and-render-documents.ts';

const subjects: Readonly<Record<string, string>> = {
  'docs/quickstart.md': 'from a key to a video in three steps',
  'docs/api.md': 'the whole API: requests, records, callbacks, errors, limits',
  'docs/clients.md': 'clients of OpenAI, OpenRouter, Ark and kie.ai with another base URL and key',
  'docs/mcp.md': 'tools for agents over the Model Context Protocol',
  'docs/dialect-kie.md': 'the spelling of kie.ai',
};

/** Returns what language models should read about this service, in the form of https://llmstxt.org. */
export function llmsText({ publicUrl, brand }: DocumentedService): string {
  const served = documentRoutesOf(brand);
  const links = whiteLabelDocuments.flatMap((path) => {
    const route = served.get(path);
    return route === undefined ? [] : [`- [${route}](${publicUrl}${route}): ${subjects[path] ?? ''}`];
  });
  return [
    `# ${brand.name}`,
    '',
    '> Video generation by asynchronous, paid tasks. A client creates a task, which is charged once, and polls it or receives a signed ' +
      'callback. Failed tasks are refunded in full.',
    '',
    '## API',
    '',
    `- [OpenAPI](${publicUrl}/openapi.json): every endpoint, with schemas and errors`,
    `- [MCP](${publicUrl}/mcp): the same service as tools; send \`Authorization: Bearer <API_KEY>\``,
    `- [Clients](${publicUrl}/clients): archives for npm and pip`,
    '',
    '## Documents',
    '',
    ...links,
    '',
  ].join('\n');
}
