import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Environment } from '../../../src/run/config/config.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { startApi } from '../../../src/run/main/start-api.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { call, createdTask } from '../../support/service/call-api.ts';
import { settled, startVisitor, type Tab, type Visitor } from '../../support/console/console-visitor.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const skip = skipWithoutBrowser();

let service: Api;
let visitor: Visitor;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  service = await startApiAt();
  visitor = await startVisitor(service);
  tab = await visitor.open();
  await tab.page.goto(`${service.baseUrl}/console/sign-in`);
  await settled(tab.page);
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

type Api = TestEnvironment & { readonly baseUrl: string };

/** The API alone: no task is generated here. */
async function startApiAt(extra: Environment = {}): Promise<Api> {
  const environment = await createTestEnvironment(extra);
  const { settings } = environment;
  const api = await startApi(settings, createLog({ level: settings.logLevel }));
  const close = async () => {
    await api.close();
    await environment.close();
  };
  return { ...environment, baseUrl: settings.publicUrl, close };
}

test('text never becomes markup, whoever tries', { skip }, async () => {
  const attempt =
    '(() => { try { document.body.innerHTML = "<b>x</b>"; return "done"; } catch (error) { return error.name; } })()';
  assert.equal(await tab.page.evaluate(attempt), 'TypeError');
  const policy =
    '(() => { try { trustedTypes.createPolicy("own", {}); return "done"; } catch (error) { return error.name; } })()';
  assert.equal(await tab.page.evaluate(policy), 'TypeError');
});

test('code and pictures of other hosts are not loaded', { skip }, async () => {
  const load = (tag: string, url: string) =>
    tab.page.evaluate(
      `new Promise((resolve) => {
        const element = document.createElement(${JSON.stringify(tag)});
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), { once: true });
        element.onload = () => resolve('loaded');
        element.src = ${JSON.stringify(url)};
        document.body.append(element);
      })`,
    );
  assert.equal(await load('img', 'http://127.0.0.1:9/picture.png'), 'img-src');
  assert.equal(await load('iframe', `${service.baseUrl}/docs`), 'frame-src');
});

const imageWidth = 'document.querySelector(".chosen-media img")?.naturalWidth ?? 0';

test('an uploaded reference image is shown where it is chosen', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database);
  const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  const buffer = await plainImage(640, 360).png().toBuffer();
  const file = { name: 'boat.png', mimeType: 'image/png', buffer };
  await page.getByLabel('Files of reference images').setInputFiles(file);
  await waitFor('the image', async () => ((await page.evaluate<number>(imageWidth)) === 640 ? true : undefined));
  assert.deepEqual(errors, []);
});

test('the page of a task shows a reference image that was uploaded elsewhere', { skip }, async () => {
  const { accountId, key } = await createTestAccount(service.database);
  const api = { baseUrl: service.baseUrl, key };
  const body = new Uint8Array(await plainImage(640, 360).png().toBuffer());
  const sent = { method: 'POST', headers: { 'content-type': 'image/png' }, body };
  const { url } = (await call(api, '/api/v1/uploads', sent)).body.data;
  const taskId = await createdTask(api, { prompt: 'a boat', imageUrls: [String(url)] });
  const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/tasks/${taskId}`);
  await waitFor('the image', async () => ((await page.evaluate<number>(imageWidth)) === 640 ? true : undefined));
  assert.deepEqual(errors, []);
});

test('behind a proxy with https, videos of the public address may be played', async () => {
  const proxied = await startApiAt({ PUBLIC_URL: 'https://videogen.example.com' });
  try {
    const page = await fetch(`http://127.0.0.1:${proxied.settings.port}/console`);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /media-src 'self' https:\/\/videogen\.example\.com;/);
    assert.match(policy, /img-src 'self' https:\/\/videogen\.example\.com /);
  } finally {
    await proxied.close();
  }
});
