import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';

type Stage = { readonly service: TestService; readonly visitor: Visitor; readonly folder: string };

/** Starts a service with these models, and a browser, for the tests of the file that calls this. */
export function playgroundWith(catalogue: object) {
  const skip = skipWithoutBrowser();
  let stage: Stage | undefined;
  const started = () => {
    if (stage === undefined) throw new Error('the service has not started');
    return stage;
  };
  before(async () => {
    if (skip !== false) return;
    const folder = await mkdtemp(join(tmpdir(), 'videogen-models-'));
    const path = join(folder, 'models.json');
    await writeFile(path, JSON.stringify(catalogue));
    const service = await startTestService({ VIDEOGEN_MODELS: path });
    stage = { folder, service, visitor: await startVisitor(service) };
  });
  afterEach(() => stage?.visitor.closeTabs());
  after(async () => {
    if (stage === undefined) return;
    await stage.visitor.close();
    await stage.service.close();
    await rm(stage.folder, { recursive: true });
  });
  return {
    skip,
    service: () => started().service,
    visitor: () => started().visitor,
    /** Opens the playground of a new account with this balance, as its owner. */
    openPlayground: async (credits?: number) => {
      const { service, visitor } = started();
      const { accountId, key } = await createTestAccount(service.database, credits);
      const tab = await visitor.signedIn({ [accountId]: 'owner' });
      await tab.open(`/a/${accountId}/playground`);
      return { ...tab, accountId, key };
    },
  };
}
