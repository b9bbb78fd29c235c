import { createTask, recordInfo } from '../service/call-api.ts';
import type { Served } from '../console/console-visitor.ts';
import { createTestAccount } from '../service/test-service.ts';
import { waitFor } from '../wait-for.ts';

export type FilledAccount = {
  readonly accountId: string;
  readonly key: string;
  /** A task that gave a video, and one that failed. */
  readonly succeeded: string;
  readonly failed: string;
};

const prompts = [
  'x'.repeat(200),
  'שלום עולם, a prompt from right to left',
  'A paper boat drifting down a rainy street at dusk, neon reflections, shallow depth of field',
  '[[reject]] a prompt that the model refuses',
];

/**
 * An account with tasks of several kinds, all ended, and with callbacks to a receiver. Its videos are ready-made clips, unless
 * `isRendered`.
 */
export async function fillAccount(
  service: Served,
  receiver: string,
  { isRendered = false } = {},
): Promise<FilledAccount> {
  const { accountId, key } = await createTestAccount(service.database);
  const ids: string[] = [];
  for (const [index, text] of prompts.entries()) {
    const prompt = isRendered ? text : `${text} [[instant]]`;
    const model = index % 2 === 0 ? 'videogen-2.0-fast' : 'videogen-2.0';
    const request = { model, input: { prompt, duration: 4 + index }, callBackUrl: `${receiver}/hook` };
    const { body } = await createTask({ ...service, key }, request);
    ids.push(String(body.data['taskId']));
  }
  for (const id of ids) {
    await waitFor('the end of a task', async () => {
      const { body } = await recordInfo({ ...service, key }, id);
      return body.data['completeTime'] === null ? undefined : true;
    });
  }
  return { accountId, key, succeeded: ids.at(-2) ?? '', failed: ids.at(-1) ?? '' };
}
