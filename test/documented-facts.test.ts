import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { callbackPausesMs, callbackTimeoutMs } from '../src/tasks/callbacks/callback-schedule.ts';
import { settingDefaults } from '../src/run/config/config.ts';
import { maxJsonBodyBytes } from '../src/api/core/request-sizes.ts';
import { maxInlineBytes } from '../src/api/core/server/read-json-or-multipart.ts';
import { defaultModels } from '../src/catalogue/models/model-type-and-name-lookup.ts';
import { linkLifetimeSeconds } from '../src/accounts/sign-in/one-time-links.ts';
import { maxFrameShapeDifference } from '../src/catalogue/media/frame-size.ts';
import { idleAndAbsoluteSessionSeconds } from '../src/accounts/sign-in/signed-in-type-and-session-lifetimes.ts';
import { inputLimits } from '../src/catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { linkGraceMs } from '../activities/generation/submit-job.ts';
import { maxLostCreateLookUpMs } from '../activities/generation/resume-or-look-up-job.ts';
import { endpoints } from '../src/api/endpoints.ts';
import { maxDeadlineSeconds } from '../src/catalogue/file/catalogue-schema-and-types.ts';
import { resultLinkLifeMs, keepPreviousSecretMs } from '../src/media/store/signed-link.ts';
import { archiveLinkMs } from '../src/api/gallery/archive-routes.ts';
import { moderationLinkMs } from '../src/run/main/api-dependencies.ts';
import { paymentsWindowMs } from '../activities/maintenance/reconcile-payments.ts';
import { mailPausesSeconds } from '../src/platform/mail/mail-queue.ts';
import { maxMarginMs } from '../src/credits/reports/margin-and-paid-money.ts';
import { maxUploadedBytesOfAccount, maxUploadsOfAccount } from '../src/media/references/upload-limits-and-addresses.ts';
import { diskReserveBytes } from '../src/platform/process/disk.ts';
import { dayMs, hourMs, minuteMs } from '../src/platform/timing/milliseconds-per-unit.ts';
import { visibleWithinMs } from '../src/providers/jobs/pick-job-of-lost-create.ts';
import { bytePlusPackages } from './counterparts/ark/ark-packages.ts';

// Figures that pages repeat, made from the code that has them. A page that states another one is wrong.

/** `5 s, 5 min, 30 min, 2, 5 and 24 h`: a unit stands after the last figure of its kind. */
function spans(pauses: readonly number[], last: string): string {
  const units = [
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const;
  const parts = pauses.map((ms) => {
    const [unit, size] = units.find(([, one]) => ms >= one) ?? ['s', 1_000];
    return { unit, count: ms / size };
  });
  const texts = parts.map(({ unit, count }, index) =>
    unit === 'h' && parts[index + 1]?.unit === 'h' ? `${count}` : `${count} ${unit}`,
  );
  return `${texts.slice(0, -1).join(', ')}${last} ${texts.at(-1)}`;
}

const retries = callbackPausesMs.filter((ms) => ms > 0);
const countOf = (rate: string) => settingDefaults.get(rate)?.split('/')[0];
const days = settingDefaults.get('MEDIA_RETENTION_DAYS');
const [standard] = defaultModels;
const seconds = standard?.input.fields.duration ?? assert.fail();
const { min, max } = 'min' in seconds ? seconds : assert.fail();
const characters = inputLimits.maxPromptLength.toLocaleString('en-US');

const facts: readonly (readonly [page: string, text: string])[] = [
  ['docs/api.md', `2xx within ${callbackTimeoutMs / 1000} seconds`],
  ['docs/api.md', spans(retries, ' and')],
  ['docs/path-of-a-task.md', spans(retries, ', and')],
  ['docs/api.md', `Videos are deleted after ${days} days by default`],
  ['docs/api.md', `request bodies of ${maxJsonBodyBytes / 1024} KiB`],
  ['docs/api.md', `${countOf('CREATE_RATE')} creates and ${countOf('READ_RATE')} other requests in 10 s`],
  ['docs/api.md', `${countOf('REFUSED_CREATE_RATE')} rejected creates a minute`],
  ['docs/api.md', `1 to ${characters} characters`],
  [
    'docs/api.md',
    `${min} to ${max} seconds; a fraction is rounded half up: ${min - 0.5} is ${min}, ${max + 0.4} is ${max}`,
  ],
  ['docs/api.md', `may differ by up to ${maxFrameShapeDifference * 100} %`],
  ['docs/api.md', `up to ${standard?.input.fields.imageUrls.max} reference images`],
  ['docs/clients.md', `Bodies may have ${maxInlineBytes / 1024 / 1024} MiB`],
  ['docs/api.md', `${maxUploadsOfAccount} files and ${maxUploadedBytesOfAccount / 1024 ** 3} GB per account`],
  ['docs/operations/access.md', `Invitations and resets work once, for ${linkLifetimeSeconds.invite / 3600} hours`],
  ['docs/operations/access.md', `Invitations and resets work once, for ${linkLifetimeSeconds.reset / 3600} hours`],
  ['docs/operations/access.md', `The link works once, for ${linkLifetimeSeconds.confirm / 3600} hours`],
  ['docs/operations/runbooks.md', `below ${diskReserveBytes / 1024 ** 2} MiB`],
  ['docs/providers/README.md', `of 30 days, at most ${maxMarginMs / dayMs}`],
  [
    'docs/operations/access.md',
    `end ${idleAndAbsoluteSessionSeconds.person.idle / 3600} hours after their last use and ${idleAndAbsoluteSessionSeconds.person.absolute / 86_400} days after`,
  ],
  ['docs/operations/upgrade.md', `ten minutes from a task's first failure (\`STUCK_TASK_SECONDS\`)`],
];

const numbersInWords: Readonly<Record<number, string>> = { 2: 'two', 7: 'seven', 10: 'ten' };
const inWords = (ms: number, unitMs: number) => numbersInWords[ms / unitMs] ?? assert.fail();
const [searched, unreadable] = [inWords(visibleWithinMs, minuteMs), inWords(maxLostCreateLookUpMs, minuteMs)];
const lookUps: typeof facts = [
  [
    'docs/path-of-a-task.md',
    `after ${searched} minutes in a list of jobs that can be read, after ${unreadable} minutes while`,
  ],
  [
    'docs/troubleshooting.md',
    `for up to ${searched} minutes, or ${unreadable} while the provider's answers can't be read`,
  ],
  ['docs/providers/ark.md', `after ${searched} minutes, or after ${unreadable} if the list cannot be read`],
];

const [mailMinutes, mailHours] = [60, 3_600].map((unit) =>
  mailPausesSeconds.filter((pause) => (unit === 60 ? pause < 3_600 : pause >= 3_600)).map((pause) => pause / unit),
);
const inWordsOnly: typeof facts = [
  ['docs/api.md', `which works for ${inWords(archiveLinkMs, minuteMs)} minutes`],
  ['docs/moderation.md', `signed for ${inWords(moderationLinkMs, minuteMs)} minutes`],
  ['docs/operations/payments.md', `compares the last ${inWords(paymentsWindowMs, dayMs)} days`],
  [
    'docs/operations/access.md',
    `try again after ${mailMinutes?.slice(0, -1).join(', ')} and ${mailMinutes?.at(-1)} minutes and ${mailHours?.join(' and ')} hours`,
  ],
];

for (const [page, text] of [...facts, ...lookUps, ...inWordsOnly]) {
  test(`${page} states: ${text}`, () => {
    assert.ok(readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ').includes(text));
  });
}

test('a previous secret is needed for longer than any link is valid, as the page about its rotation says', () => {
  const longestMs = maxDeadlineSeconds * 1000 + linkGraceMs;
  assert.ok(longestMs < keepPreviousSecretMs && resultLinkLifeMs < keepPreviousSecretMs);
  const page = readFileSync('docs/operations/access.md', 'utf8').replaceAll(/\s+/g, ' ');
  assert.ok(page.includes(`4. ${inWords(keepPreviousSecretMs, dayMs).replace('t', 'T')} days later`));
  assert.ok(page.includes(`valid for up to ${longestMs / hourMs} hours`));
});

/** What derives keys from `VIDEOGEN_SECRET`, in the words of the page about its rotation. */
const usesOfSecret: Readonly<Record<string, string>> = {
  'media/store/signer.ts': 'signs links to videos, posters, uploads, archives and reference media',
  'platform/secrets/secret-box.ts': 'encrypts the secrets of callbacks and events, and the links in mails that wait',
  'credits/sign-up/claim-start-credit.ts': 'the hashes of mailboxes that got the start credit',
  'platform/secrets/account-pseudonyms.ts': 'the pseudonyms of accounts that upstreams get',
};

test('the page about the rotation of the secret names each of its uses', () => {
  const deriving = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.ts') &&
      /hkdfSync\(|createHmac\('sha256', key\)\.update\(`/.test(readFileSync(`src/${name}`, 'utf8')),
  );
  const notOfSecret = ['console/features/callbacks/verification-sample.ts'];
  assert.deepEqual(
    deriving.filter((name) => !notOfSecret.includes(name)).toSorted(),
    Object.keys(usesOfSecret).toSorted(),
  );
  const page = readFileSync('docs/operations/access.md', 'utf8').replaceAll(/\s+/g, ' ');
  for (const use of Object.values(usesOfSecret)) assert.ok(page.includes(use), use);
});

/** The changes by operators that need a recent authentication, in the words of the page about access. */
const provenChanges: Readonly<Record<string, string>> = {
  '/api/admin/v1/accounts': 'open or close an account',
  '/api/admin/v1/accounts/close': 'open or close an account',
  '/api/admin/v1/keys': 'create a key for an account',
  '/api/admin/v1/credits/grant': 'grant or adjust credits',
  '/api/admin/v1/credits/adjust': 'grant or adjust credits',
  '/api/admin/v1/codes': 'create codes or a sign-up link',
  '/api/admin/v1/sign-ups/link': 'create codes or a sign-up link',
  '/api/admin/v1/prices/set': 'set a price',
  '/api/admin/v1/people/invite': 'invite an operator or a person',
  '/api/admin/v1/people/withdraw': 'withdraw such an invitation',
  '/api/admin/v1/people/reset': 'reset, disable, enable, sign out or erase a person',
  '/api/admin/v1/people/disable': 'reset, disable, enable, sign out or erase a person',
  '/api/admin/v1/people/enable': 'reset, disable, enable, sign out or erase a person',
  '/api/admin/v1/people/end-sessions': 'reset, disable, enable, sign out or erase a person',
  '/api/admin/v1/people/erase': 'reset, disable, enable, sign out or erase a person',
  '/api/admin/v1/people/operator': 'change who is an operator',
  '/api/admin/v1/tasks/delete': "delete a task's content",
};

test('the page about access lists the changes by operators that need a recent authentication', () => {
  const declared = endpoints.filter(({ scope, needsRecentProof }) => scope === 'operator' && needsRecentProof === true);
  assert.deepEqual(declared.map(({ path }) => path).toSorted(), Object.keys(provenChanges).toSorted());
  const page = readFileSync('docs/operations/access.md', 'utf8').replaceAll(/\s+/g, ' ');
  for (const change of Object.values(provenChanges)) assert.ok(page.includes(change), change);
});

test('the figures in words are those of the settings', () => {
  assert.equal(settingDefaults.get('STUCK_TASK_SECONDS'), '600');
  assert.equal(linkLifetimeSeconds.setup, 1800, 'half an hour, as the start prints');
  assert.match(settingDefaults.get('CREATE_RATE') ?? '', /\/10s$/);
});

const pages = ['README.md', ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith('.md'))
  .map((name) => [name, readFileSync(name, 'utf8')] as const);

type Operation = {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: BodySchema }>> };
};
type BodySchema = {
  readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>;
  readonly required?: readonly string[];
};
const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

test('a body that a sentence names beside its endpoint has the fields of the endpoint', () => {
  const sentences = pages.flatMap(([page, text]) =>
    [...text.matchAll(/`(GET|POST) (\/api\/[\w/]+)` (?:with|takes) `(\{.*?\})`/g)].map(
      ([sentence, method = '', path = '', body = '']) => {
        const schema = paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json']?.schema;
        return { page, sentence, schema, names: Object.keys(JSON.parse(body) as object) };
      },
    ),
  );
  assert.ok(sentences.length >= 3);
  for (const { page, sentence, schema, names } of sentences) {
    const about = `${page}: ${sentence}`;
    const known = Object.keys(schema?.properties ?? {});
    assert.deepEqual(
      names.filter((name) => !known.includes(name)),
      [],
      about,
    );
    assert.deepEqual(schema?.required?.filter((name) => !names.includes(name)) ?? [], [], about);
  }
  const rotate = paths['/api/v1/keys/rotate']?.['post']?.requestBody?.content['application/json']?.schema;
  assert.equal(rotate?.properties?.['overlapSeconds']?.default, 86_400, 'another day, as docs/api.md has it');
});

test('the tutorial names buttons and menus as the console does', () => {
  const named = pages.flatMap(([page, text]) =>
    page === 'docs/tutorial.md'
      ? [...text.matchAll(/(?<=\w.* )\*\*([A-Z][^*]+)\*\*/g)].map(([, name = '']) => name)
      : [],
  );
  assert.ok(named.includes('Operate the service'));
  const texts = readdirSync('src/console', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /-text\.tsx?$/.test(name),
  );
  const words = texts.map((name) => readFileSync(`src/console/${name}`, 'utf8')).join('\n');
  for (const name of named) assert.ok(words.includes(`'${name}'`), name);
});

test('the catalogue has one name in pages, settings and the chart', () => {
  const files = ['.env.example', 'docker-compose.yml', 'ops/helm/videogen/values.yaml', 'ops/helm/videogen/README.md'];
  for (const [file, text] of [...pages, ...files.map((name) => [name, readFileSync(name, 'utf8')] as const)])
    assert.deepEqual(text.match(/\bmodels\.(?:ya?ml|json)\b/g), null, file);
  assert.match(readFileSync('ops/helm/videogen/values.yaml', 'utf8'), /^ {2}key: catalogue\.yaml$/m);
});

test('the page about clients names what the published packages need and export', () => {
  const page = readFileSync('docs/clients.md', 'utf8');
  const [row = ''] = /^\| BytePlus SDK: .*$/m.exec(page) ?? [];
  for (const name of ['byteplus-python-sdk-v2[ark]', 'sniffio']) {
    assert.ok(row.includes(`\`${name}\``), name);
    assert.ok(
      bytePlusPackages.some((one) => one.startsWith(`${name}==`)),
      name,
    );
  }
  // The AI SDK exports it with this prefix only, so a call without it needs an import that renames it.
  for (const [name, text] of pages) {
    const lines = text.split('\n').filter((line) => /(?<!experimental_)\bgenerateVideo\(/.test(line));
    const renames = text.includes('experimental_generateVideo as generateVideo');
    assert.ok(lines.length === 0 || renames, `${name}: ${lines[0]}`);
  }
});
