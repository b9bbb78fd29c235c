import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { callbackPausesMs, callbackTimeoutMs } from '../src/callbacks/callback.ts';
import { settingDefaults } from '../src/config/config.ts';
import { maxBodyBytes } from '../src/http/errors.ts';
import { maxInlineBytes } from '../src/http/server/read-fields.ts';
import { defaultModels } from '../src/models/model.ts';
import { lifetimeSeconds } from '../src/people/one-time-links.ts';
import { sessionSeconds } from '../src/people/session.ts';
import { inputLimits } from '../src/tasks/input-bounds.ts';

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
const characters = inputLimits.maxPromptLength.toLocaleString('en-US');

const facts: readonly (readonly [page: string, text: string])[] = [
  ['docs/api.md', `2xx within ${callbackTimeoutMs / 1000} seconds`],
  ['docs/api.md', spans(retries, ' and')],
  ['docs/architecture.md', spans(retries, ', and')],
  ['docs/api.md', `Videos are deleted after ${days} days by default`],
  ['docs/api.md', `request bodies of ${maxBodyBytes / 1024} KiB`],
  ['docs/api.md', `${countOf('CREATE_RATE')} creates and ${countOf('READ_RATE')} other requests in 10 s`],
  ['docs/api.md', `${countOf('REFUSED_CREATE_RATE')} rejected creates a minute`],
  ['docs/api.md', `1 to ${characters} characters`],
  ['docs/api.md', `up to ${standard?.input.fields.imageUrls.max} reference images`],
  ['docs/clients.md', `Bodies may have ${maxInlineBytes / 1024 / 1024} MiB`],
  ['docs/operations/access.md', `${lifetimeSeconds.invite / 3600} hours`],
  [
    'docs/operations/access.md',
    `end ${sessionSeconds.person.idle / 3600} hours after their last use and ${sessionSeconds.person.absolute / 86_400} days after`,
  ],
  ['docs/operations/upgrade.md', `ten minutes from a task's first failure (\`STUCK_TASK_SECONDS\`)`],
];

for (const [page, text] of facts) {
  test(`${page} states: ${text}`, () => {
    assert.ok(readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ').includes(text));
  });
}

test('the figures in words are those of the settings', () => {
  assert.equal(settingDefaults.get('STUCK_TASK_SECONDS'), '600');
  assert.equal(lifetimeSeconds.setup, 1800, 'half an hour, as the start prints');
  assert.match(settingDefaults.get('CREATE_RATE') ?? '', /\/10s$/);
});
