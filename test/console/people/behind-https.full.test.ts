import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { signIn, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { startTlsProxy } from '../../support/proxies/tls-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let proxy: { close(): void };
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  const port = await reserveFreePort();
  service = await startTestService({ PUBLIC_URL: `https://localhost:${port}` });
  proxy = await startTlsProxy(port, service.settings.port);
  visitor = await startVisitor(service);
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  proxy.close();
  await service.close();
});

test(
  'behind a proxy with https the cookie is bound to the host and to https, and a video is made and plays',
  { skip },
  async () => {
    const { accountId } = await createTestAccount(service.database, 1_000);
    // Nobody vouches for the certificate of the tests.
    const { page, context, foreign, errors, open } = await visitor.open({ ignoreHTTPSErrors: true });
    await open('/sign-in');
    await signIn(page, await visitor.newPerson({ [accountId]: 'owner' }));
    const [cookie, ...others] = await context.cookies();
    const { name, domain, path, secure, httpOnly, sameSite } = cookie ?? {};
    assert.deepEqual(
      { name, domain, path, secure, httpOnly, sameSite },
      { name: '__Host-videogen', domain: 'localhost', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' },
    );
    assert.deepEqual(others, []);
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('Prompt').fill('A lighthouse in the fog [[instant]]');
    await page.getByRole('button', { name: /^Generate/ }).click();
    const video = page.getByRole('region', { name: 'Result' }).locator('video');
    await video.waitFor();
    assert.ok((await video.getAttribute('src'))?.startsWith(`${service.baseUrl}/`));
    await page.evaluate(
      '(() => { const film = document.querySelector("video"); film.muted = true; return film.play(); })()',
    );
    const runs =
      '(({ currentTime, videoWidth }) => currentTime > 0.2 && videoWidth > 0)(document.querySelector("video"))';
    await waitFor('the film to run', async () => ((await page.evaluate(runs)) === true ? true : undefined));
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page
      .getByRole('row', { name: /A lighthouse in the fog/ })
      .locator('img')
      .waitFor();
    assert.deepEqual(foreign, []);
    assert.deepEqual(errors, []);
  },
);
