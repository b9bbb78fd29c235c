import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewriteForWhiteLabel, whiteLabelDocuments } from '../../../src/api/docs/branded-document.ts';

const document = `# Videogen

Set \`VIDEOGEN_API_KEY\` and use videogen-2.0-fast or videogen-2.0.

Install videogen-client for TypeScript.

- Send \`Videogen-Dialect: native\`.
- Run \`videogen key create\`.

| Name | Use |
| --- | --- |
| Videogen | a |
| videogen-gateway | b |

\`\`\`json
{"user": "videogen"}
\`\`\`
`;

test('a document for another name has that name and its models, and nothing about our own programs', () => {
  const branded = (models: readonly string[]) =>
    rewriteForWhiteLabel(document, 'Reel Ltd', models).replaceAll(/\n+/g, '\n');
  const expected = `# Reel Ltd
Set \`API_KEY\` and use film or videogen-2.0.
- Send \`Videogen-Dialect: native\`.
| Name | Use |
| --- | --- |
| Reel Ltd | a |
\`\`\`json
{"user": "reel-ltd"}
\`\`\`
`;
  assert.equal(branded(['film', 'videogen-2.0']), expected);
  assert.equal(branded([]), expected.replace('film', 'videogen-2.0-fast'));
});

test('a service under another name shows the documents for clients', () =>
  assert.deepEqual(whiteLabelDocuments, [
    'docs/quickstart.md',
    'docs/api.md',
    'docs/clients.md',
    'docs/mcp.md',
    'docs/dialect-kie.md',
  ]));
