import { resolve } from 'node:path';
import type { Service } from '../embedded/service.ts';
import { invocation } from './invocation.ts';
import type { Answer } from './output.ts';

export type FirstKey = { readonly accountId: string; readonly key: string; readonly credits: number };

/** What a start says: where everything is, and how to make the first video. A key is known at the first start only. */
export function startAnswer(service: Service, firstKey: FirstKey | undefined): Answer {
  const { settings, temporalUiUrl, logPath } = service;
  const json = {
    publicUrl: settings.publicUrl,
    docsUrl: `${settings.publicUrl}/docs`,
    temporalUiUrl: temporalUiUrl ?? null,
    dataFolder: settings.dataFolder,
    logPath,
    firstKey: firstKey ?? null,
  };
  const lines = [
    '',
    'Videogen is running. Ctrl-C stops it; tasks under way go on at the next start.',
    '',
    `  API           ${settings.publicUrl}`,
    `  Documentation ${settings.publicUrl}/docs`,
    ...(temporalUiUrl === undefined ? [] : [`  Temporal UI   ${temporalUiUrl}`]),
    `  Data          ${settings.dataFolder}`,
    `  Log           ${logPath}`,
    '',
    ...(firstKey === undefined ? anotherKeyLines(service) : firstKeyLines(service, firstKey)),
    '',
  ];
  return { json, lines };
}

function firstKeyLines({ settings }: Service, { accountId, key, credits }: FirstKey): readonly string[] {
  const address = settings.publicUrl === 'http://127.0.0.1:3000' ? [] : ['--base-url', settings.publicUrl];
  return [
    `  The first account, ${accountId},`,
    `  has ${credits} credits. Its key is shown only this once. In another terminal:`,
    '',
    `  export VIDEOGEN_API_KEY=${key}`,
    `  ${invocation('generate', '"a lighthouse in a storm"', '--duration', '4', ...address)}`,
  ];
}

function anotherKeyLines({ settings }: Service): readonly string[] {
  const isElsewhere = settings.dataFolder !== resolve('data');
  const environment = isElsewhere ? `VIDEOGEN_DATA=${settings.dataFolder} ` : '';
  return [
    '  Keys are shown only once. To make another one, in another terminal:',
    '',
    `  ${environment}${invocation('account', 'list')}`,
    `  ${environment}${invocation('key', 'create', '--account', 'ACCOUNT')}`,
  ];
}
