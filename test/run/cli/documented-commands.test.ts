import { Command } from 'commander';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandsByName as definitions } from '../../../src/run/cli/commands.ts';

const program = new Command();
for (const add of Object.values(definitions)) await add(program);
const groups = program.commands.filter(({ commands }) => commands.length > 0).map((group) => group.name());

function textsIn(folder: string, ending: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(ending));
  return names.map((name) => readFileSync(join(folder, name), 'utf8'));
}

const pages = [readFileSync('README.md', 'utf8'), readFileSync('SECURITY.md', 'utf8'), ...textsIn('docs', '.md')];

/** The commands in the code blocks of all documents: their words, and the options that any document gives them. */
function documentedCommands(): ReadonlyMap<string, ReadonlySet<string>> {
  const blocks = pages.flatMap((page) => [...page.matchAll(/^```sh\n(.*?)^```$/gms)]).map(([, text = '']) => text);
  const lines = blocks.flatMap((text) => text.split('\n')).map((line) => line.replace(/(?:^| )#.*/, ''));
  const found = new Map<string, Set<string>>();
  for (const line of lines) {
    const starts = String.raw`(?:^|&& )(?:[A-Z_]+=\S+ )*(?:docker compose .* (?:api|worker) )?`;
    const called = line.matchAll(new RegExp(`${starts}(?:videogen|node dist/src/run/cli/cli.js) ([a-z][^|&<>]*)`, 'g'));
    for (const [, text = ''] of called) {
      const [first = '', second = ''] = text.split(' ');
      const words = groups.includes(first) ? `${first} ${second}` : first;
      const options = found.get(words) ?? new Set<string>();
      found.set(words, options);
      for (const [option] of text.replaceAll(/"[^"]*"|'[^']*'/g, '').matchAll(/--[a-z-]+/g)) options.add(option);
    }
  }
  return found;
}

const commands = documentedCommands();

test('the documents use most commands', () => {
  assert.ok(commands.size > 25, [...commands.keys()].join(', '));
});

for (const [words, options] of commands) {
  test(`videogen ${words} exists, with the options that the documents give it`, () => {
    const [group, name] = words.split(' ');
    const first = program.commands.find((command) => command.name() === group);
    const command = name === undefined ? first : first?.commands.find((below) => below.name() === name);
    assert.ok(command);
    const known = command.options.flatMap(({ long, negate }) => [
      long,
      ...(negate ? [long?.replace('--no-', '--')] : []),
    ]);
    const general = ['--json', '--help'];
    assert.deepEqual(
      [...options].filter((option) => !general.includes(option) && !known.includes(option)),
      [],
    );
  });
}

type Parameters = { readonly parameters?: readonly { readonly name?: string; readonly $ref?: string }[] };
type Body = { readonly properties?: Readonly<Record<string, unknown>> };
type Document = {
  readonly paths: Readonly<
    Record<
      string,
      Record<string, Parameters & { readonly requestBody?: { content: Readonly<Record<string, { schema: Body }>> } }>
    >
  >;
};
const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as Document;

/** The requests of `videogen api` in documents and messages: method, path and fields. */
const requests = [...pages, ...textsIn('src', '.ts')]
  .flatMap((text) => [...text.matchAll(/videogen api ([A-Z]+) (\/[\w./-]+)([^\n]*)/g)])
  .map(([, method = '', path = '', rest = '']) => {
    const fields = [...rest.matchAll(/ -[fF] '?(\w+)=/g)].map(([, name = '']) => name);
    return { method, path, fields: rest.includes(' --account ') ? ['accountId', ...fields] : fields };
  });

test('every request that documents and messages send with videogen api has an endpoint, which takes its fields', () => {
  assert.ok(requests.length > 25, String(requests.length));
  for (const { method, path, fields } of requests) {
    const operation = paths[path]?.[method.toLowerCase()];
    assert.ok(operation, `${method} ${path}`);
    const query = (operation.parameters ?? []).map(({ name }) => name);
    const body = Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) =>
      Object.keys(schema.properties ?? {}),
    );
    const unknown = fields.filter((field) => ![...query, ...body].includes(field));
    assert.deepEqual(unknown, [], `${method} ${path}`);
  }
});
