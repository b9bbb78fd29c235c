import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../support/browser.ts';
import { startVisitor, type Tab, type Visitor } from '../support/console.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

/** Starts a service and a browser for the tests of the file that calls this. */
export function docsReader() {
  const skip = skipWithoutBrowser();
  let stage: { readonly service: HttpService; readonly visitor: Visitor } | undefined;
  const started = () => {
    if (stage === undefined) throw new Error('the service has not started');
    return stage;
  };
  before(async () => {
    if (skip !== false) return;
    const service = await startHttpService();
    stage = { service, visitor: await startVisitor({ baseUrl: service.url, database: service.database }) };
  });
  afterEach(() => stage?.visitor.closeTabs());
  after(async () => {
    await stage?.visitor.close();
    await stage?.service.close();
  });
  return { skip, service: () => started().service, visitor: () => started().visitor };
}

/** The part of a page that shows an endpoint. */
export const sectionOf = (page: Page, operationId: string) =>
  page.locator('article.operation', { has: page.locator(`#${operationId}`) });

export async function openForm(page: Page, operationId: string) {
  const section = sectionOf(page, operationId);
  await section.getByText('Try it', { exact: true }).click();
  await section.getByRole('button', { name: /^Send/ }).waitFor();
  return section;
}

export function assertClean({ errors, foreign }: Tab): void {
  assert.deepEqual(errors, []);
  assert.deepEqual(foreign, []);
}
