import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parseAccentIntoShades } from '../../../src/platform/brand/accent.ts';
import { type Brand, asciiBrandName, mailSignatureOf } from '../../../src/platform/brand/brand.ts';
import { defaultBrand } from '../../support/service/defaults/default-brand.ts';
import { callbackFormatOf } from '../../../src/api/dialects/shapes.ts';
import { createTestCallbackSender } from '../../../src/tasks/callbacks/send-test-callback.ts';
import { readConfig } from '../../../src/run/config/config.ts';
import { settingsWithNothingEmbedded } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { readStatement, monthOf } from '../../../src/credits/reports/account-statement.ts';
import { statementHtml } from '../../../src/api/credits/statement-page.ts';
import { mailKinds, composeMail } from '../../../src/platform/mail/mail-texts.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { registrationOptions } from '../../../src/api/sign-in/passkey-ceremony.ts';
import { startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

const logo = { type: 'image/png', bytes: Buffer.from('89504e470d0a1a0a', 'hex'), version: 'abc' };
const brand: Brand = {
  name: 'Harbour & Söhne Film',
  logo,
  accent: parseAccentIntoShades('#0f766e'),
  support: 'mailto:help@harbour.example',
  terms: 'https://harbour.example/terms',
  privacy: 'https://harbour.example/privacy',
  buyCredits: 'https://harbour.example/buy',
};

/**
 * What stays under another name, because programs read it: headers, the option of OpenRouter's dialect, and the names under which the
 * console's code stores settings in the browser. docs/operations/brand.md lists it for operators.
 */
const technical =
  /Videogen-(?:Account|Console|Background|Dialect)|options[. ]videogen\b|<code class="name">videogen<\/code>|"videogen":|videogen-(?:theme|account|draft|dismissed|docs-key|docs-language)\b/gi;

function assertUnbranded(text: string, where: string): void {
  const searched = text.replaceAll(technical, '');
  // OpenRouter's SDK has a `videoGeneration`.
  const at = searched.search(/videogen(?!eration)/i);
  assert.equal(at, -1, `${where}: …${searched.slice(Math.max(0, at - 80), at + 80)}…`);
}

let service: HttpService;
before(async () => {
  const own = builtInCatalogue();
  const [first] = own.models.values();
  const model = { ...(first ?? assert.fail()), model: 'harbour-1', title: 'Harbour 1', aliases: ['sea'] };
  const catalogue = { ...own, models: new Map([[model.model, model]]) };
  service = await startHttpService({ brand, catalogue: () => catalogue });
});
after(() => service.close());

test('no page, description or file that customers load names the software', async () => {
  const waiting = ['/docs', '/console', '/console/sign-in'];
  const seen = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, bytes } = await service.send('GET', path);
    assert.equal(status, 200, path);
    const text = bytes.toString();
    if (!/\.woff2$|^\/brand\/logo/.test(path)) assertUnbranded(text, path);
    const links = [...text.matchAll(/(?:href|src)="(\/(?:docs|console\/assets|brand)[^"#]*)/g)].map(
      ([, link = '']) => link,
    );
    waiting.push(...links);
  }
  for (const path of ['/docs/quickstart', '/docs/search.json', '/openapi.json', '/docs/reference/operators']) {
    assertUnbranded((await service.send('GET', path)).bytes.toString(), path);
  }
  assert.ok(['/docs/api', '/docs/clients', '/docs/mcp', '/docs/dialect-kie'].every((path) => seen.has(path)));
  const chunks = readdirSync(new URL('../../../console/assets', import.meta.url)).filter((name) =>
    /\.(?:js|css)$/.test(name),
  );
  assert.ok(chunks.length > 3);
  for (const name of chunks)
    assertUnbranded(readFileSync(new URL(`../../../console/assets/${name}`, import.meta.url), 'utf8'), name);
});

test('pages, documents and the description have the name, and the model of the catalogue', async () => {
  const shown = 'Harbour &#38; Söhne Film';
  const text = async (path: string) => (await service.send('GET', path)).bytes.toString();
  assert.match(await text('/console'), new RegExp(`<title>${shown}</title>`));
  assert.match(await text('/docs/mcp'), new RegExp(`<title>Use ${shown} from an agent \\(MCP\\) · ${shown}</title>`));
  assert.match(await text('/docs'), /harbour-1/);
  const description: unknown = JSON.parse(await text('/openapi.json'));
  assert.equal((description as { info: { title: string } }).info.title, brand.name); // of our own server
  const home: unknown = JSON.parse(await text('/'));
  assert.equal((home as { data: { name: string } }).data.name, brand.name); // of our own server
});

test('documents about running the software are not served, and no link leads to one', async () => {
  for (const path of ['/docs/readme', '/docs/operations', '/docs/providers', '/docs/console.png', '/docs/architecture'])
    assert.equal((await service.send('GET', path)).status, 404, path);
  const page = (await service.send('GET', '/docs')).bytes.toString();
  assert.doesNotMatch(page, /Getting started|href="\/docs\/(?:readme|operations|providers)/);
});

test('logo, colors and links come from the settings, with the policy of the console', async () => {
  const page = (await service.send('GET', '/console')).bytes.toString();
  assert.match(page, /<link rel="icon" href="\/brand\/logo\?v=abc" \/>/);
  const [, colors = ''] = /href="(\/brand\/colors\.css\?v=\w+)"/.exec(page) ?? [];
  const style = await service.send('GET', colors);
  assert.match(style.bytes.toString(), /--accent-fill:light-dark\(#0f766e,/);
  const { headers, bytes } = await service.send('GET', '/brand/logo');
  assert.deepEqual([headers['content-type'], bytes], ['image/png', logo.bytes]);
  assert.deepEqual([headers['x-content-type-options'], headers['cache-control']], ['nosniff', 'public, max-age=300']);
  const docs = (await service.send('GET', '/docs')).bytes.toString();
  assert.match(docs, /<img class="brand-mark" src="\/brand\/logo\?v=abc" alt="" \/>/);
  const [, attribute = ''] = /<meta name="brand" content="([^"]*)"/.exec(page) ?? [];
  const known: unknown = JSON.parse(attribute.replaceAll('&#34;', '"').replaceAll('&#38;', '&'));
  const { name, support, terms, privacy, buyCredits } = brand;
  assert.deepEqual(known, {
    name,
    keyVariable: 'API_KEY',
    logo: '/brand/logo?v=abc',
    support,
    terms,
    privacy,
    buyCredits,
  });
});

test('mails, statements, passkeys and the server of the Model Context Protocol have the name', async () => {
  for (const kind of mailKinds) {
    const { subject, text } = composeMail(kind, mailSignatureOf(brand, service.url), `${service.url}/console/x`, 0);
    assertUnbranded(subject + text, kind);
    assert.match(subject, /\(Harbour & Söhne Film\)$/);
    assert.match(text, /\nSupport: help@harbour\.example\n$/);
  }
  const { accountId, key } = await service.newAccount(5, ['credits:read']);
  const month = monthOf('2026-01') ?? assert.fail();
  const page = statementHtml(await readStatement(service.database.db, { accountId, ...month }), brand);
  assertUnbranded(page, 'statement');
  assert.match(page, /<p class="from">Harbour &#38; Söhne Film<\/p>[^]*help@harbour\.example/);
  const sent = await service.send('GET', '/api/v1/credits/statement.html?month=2026-01', {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.match(sent.bytes.toString(), /<p class="from">Harbour/);
  const registering = { service: brand.name, email: 'a@b.example', challenge: 'abcd', known: [] };
  const options = await registrationOptions({ id: 'harbour.example', origin: 'https://harbour.example' }, registering);
  assert.deepEqual(options.rp, { name: brand.name, id: 'harbour.example' });
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const answer = await service.send('POST', '/mcp', {
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  assert.match(answer.bytes.toString(), /"name":"harbour-sohne-film","title":"Harbour & Söhne Film"/);
  assertUnbranded(answer.bytes.toString(), 'MCP');
});

test('callbacks are sent under the name, and their headers do not name the software', async () => {
  const settings = settingsWithNothingEmbedded(
    readConfig({
      DATABASE_URL: service.database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      VIDEOGEN_SECRET: 's'.repeat(32),
      RESULT_STORE: '/tmp/unused',
      CALLBACK_ALLOW: '127.0.0.0/8',
      BRAND_NAME: brand.name,
    }),
  );
  const receiver = await startCallbackReceiver();
  const { db } = service.database;
  const box = createSecretBox(settings.secret);
  const { models } = service.deps.catalogue();
  const callbacks = createTestCallbackSender({
    db,
    box,
    log: service.deps.log,
    models: () => models,
    callbackFormatOf,
    serviceName: settings.brand.name,
    allow: settings.callbackAllow,
    own: [],
  });
  const { accountId } = await service.newAccount(0);
  assert.equal(await callbacks.send({ accountId, url: `${receiver.url}/hook`, dialect: 'native' }), 204);
  const [sent] = receiver.received;
  assert.equal(sent?.headers['user-agent'], 'Harbour-Sohne-Film');
  assertUnbranded(JSON.stringify(sent), 'callback');
  await callbacks.close();
  await receiver.close();
});

test('a name becomes a token of ASCII', () => {
  const names = ['Videogen', 'Harbour & Söhne Film', 'Клипы', ' a  b_c ', 'x-1'];
  assert.deepEqual(names.map(asciiBrandName), ['Videogen', 'Harbour-Sohne-Film', 'video-api', 'a-b-c', 'x-1']);
  assert.equal(mailSignatureOf(defaultBrand, 'https://video.example.com').name, 'video.example.com');
});
