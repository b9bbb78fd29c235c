import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  inputErrorsOfModel,
  untriedTiersForTask,
} from '../../../src/catalogue/models/input-refusals-and-untried-tiers.ts';
import { arkFieldOfCommand, readsTextCommands, readTextCommands } from '../../../src/catalogue/models/text-commands.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { readCatalogue } from '../file/read-catalogue.ts';

process.env['TEXT_COMMANDS_KEY'] = 'secret';
const key = { env: 'TEXT_COMMANDS_KEY' };
const baseUrl = 'https://upstream.example/v1';
const file = (name: string) => ({ kind: 'http', file: `builtin:${name}`, baseUrl, key });

/** Each way in which a Seedance can be connected: the settings of its provider, and the upstream's name of the model. */
const seedances = {
  ark: [{ kind: 'ark', baseUrl, key }, 'ep-20261129-abcde'],
  'ark at another path': [
    {
      kind: 'ark',
      baseUrl,
      key,
      paths: { create: '/v2/generate', get: '/v2/query/{id}', list: '/v2/query' },
      resultPath: 'task',
    },
    'seedance-2',
  ],
  'openai-videos': [{ kind: 'openai-videos', dialect: 'openrouter', baseUrl, key }, 'bytedance/seedance-2.0'],
  'fal-seedance': [file('fal-seedance'), 'bytedance/seedance-2.0'],
  kie: [file('kie'), 'bytedance/v1-pro-text-to-video'],
  'replicate-seedance': [file('replicate-seedance'), 'bytedance/seedance-2.0-fast'],
  openrouter: [file('openrouter'), 'bytedance/seedance-2.0'],
  runway: [file('runway'), 'seedance2'],
} as const;

const commands =
  '--resolution 1080p|--rs 1080p|--ratio 9:16|--rt 9:16|--duration 12|--dur 12|--frames 289|--framespersecond 24|--framepersecond 24|' +
  '--fps 24|--seed 7|--watermark true|--wm true|--camera_fixed true|--camerafixed true|--cf true|--DUR 12|--dur=12|fox--dur 12|-- dur 12|--dur12|\uFF0D\uFF0Ddur 12|--d\u200Bur 12|-\u00AD-dur 12';

for (const [name, [provider, upstream]] of Object.entries(seedances))
  test(`a prompt with a command buys nothing at ${name}: it is refused before the charge, and not sent`, () => {
    const entry = { provider: 'seedance', model: upstream };
    const sold = { model: 'sold', title: 'Sold', prices: [{ creditsPerSecond: 1 }], tiers: [[entry]] };
    const { models } = readCatalogue({ providers: { seedance: provider }, models: [sold] });
    const model = models.get('sold') ?? assert.fail();
    const task = { taskId: 'task', used: new Set<string>() };
    for (const command of commands.split('|')) {
      const input = withDefaults({ prompt: `a fox ${command}`, duration: 5 });
      const [error, ...others] = inputErrorsOfModel(model, input);
      assert.equal(error?.path, 'input.prompt', command);
      assert.match(error.message, /^must not contain --\w+, which this model reads as a command; (?:send|leave) /i);
      assert.deepEqual(others, []);
      assert.deepEqual(untriedTiersForTask(model, { ...task, input }), [], command);
    }
    for (const prompt of ['a fox -- in the snow', 'a --lighthouse', 'dur 12', 'a --seedling', '--']) {
      const input = withDefaults({ prompt, duration: 5 });
      assert.deepEqual(inputErrorsOfModel(model, input), [], prompt);
      assert.equal(untriedTiersForTask(model, { ...task, input }).length, 1);
    }
  });

test('the refusal names the field to send instead', () => {
  const sold = { model: 'sold', title: 'Sold', prices: [{ creditsPerSecond: 1 }], tiers: [[{ provider: 'ark' }]] };
  const { models } = readCatalogue({ providers: { ark: { kind: 'ark', baseUrl, key } }, models: [sold] });
  const messageOf = (prompt: string) =>
    inputErrorsOfModel(models.get('sold') ?? assert.fail(), withDefaults({ prompt }));
  assert.deepEqual(messageOf('a fox --dur 12'), [
    {
      path: 'input.prompt',
      message: 'must not contain --dur, which this model reads as a command; send input.duration instead',
    },
  ]);
  assert.match(messageOf('a fox --wm true')[0]?.message ?? '', /; leave it out$/);
});

test('models that read no commands take such prompts', () => {
  const sold = { model: 'sold', title: 'Sold', prices: [{ creditsPerSecond: 1 }], tiers: [[{ provider: 'own' }]] };
  const { models } = readCatalogue({ providers: { own: { kind: 'own', baseUrl } }, models: [sold] });
  const input = withDefaults({ prompt: 'a fox --dur 12' });
  assert.deepEqual(inputErrorsOfModel(models.get('sold') ?? assert.fail(), input), []);
});

test('each command is read as the field of Ark that it stands for, and leaves the prompt', () => {
  const prompt = [
    'a fox --rs 1080p --rt 9:16 --dur 12 --frames 289 --fps 24 --seed 7 --wm true --cf false',
    'in the snow --lighthouse 3 --watermark',
  ].join(' ');
  const { prompt: rest, fields } = readTextCommands(prompt);
  assert.equal(rest.replaceAll(/\s+/g, ' '), 'a fox in the snow --lighthouse 3 --watermark');
  assert.deepEqual(Object.fromEntries(fields), {
    resolution: '1080p',
    ratio: '9:16',
    duration: '12',
    frames: '289',
    framespersecond: '24',
    seed: '7',
    watermark: 'true',
    camera_fixed: 'false',
  });
});

test('the last of two commands for one field counts, and a command needs a space before it and a value', () => {
  const { prompt, fields } = readTextCommands('  a fox--dur 4 --duration 5 --seed --dur 6');
  assert.equal(prompt.replaceAll(/\s+/g, ' '), 'a fox--dur 4 --seed');
  assert.deepEqual([...fields], [['duration', '6']]);
});

test('every name of a command is also one of a field of Ark, and no other word is', () => {
  const fieldOf: Readonly<Record<string, string>> = {
    resolution: 'resolution',
    rs: 'resolution',
    ratio: 'ratio',
    rt: 'ratio',
    duration: 'duration',
    dur: 'duration',
    frames: 'frames',
    framespersecond: 'framespersecond',
    framepersecond: 'framespersecond',
    fps: 'framespersecond',
    seed: 'seed',
    watermark: 'watermark',
    wm: 'watermark',
    camera_fixed: 'camera_fixed',
    camerafixed: 'camera_fixed',
    cf: 'camera_fixed',
  };
  for (const [name, field] of Object.entries(fieldOf)) {
    assert.equal(arkFieldOfCommand(name), field, name);
    assert.deepEqual([...readTextCommands(`--${name} x`).fields], [[field, 'x']], name);
  }
  for (const name of ['DUR', 'prompt', '', 'toString']) assert.equal(arkFieldOfCommand(name), undefined, name);
});

test('a Seedance is known by its name in any case, wherever the name stands in that of the upstream', () => {
  for (const name of ['seedance2', 'bytedance/Seedance-2.0', 'dreamina-seedance-2-0'])
    assert.equal(readsTextCommands(name), true, name);
  for (const name of ['ep-20261129-abcde', 'kling', '']) assert.equal(readsTextCommands(name), false, name);
});
