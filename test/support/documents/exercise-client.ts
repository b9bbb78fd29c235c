import type * as clientPackage from '../../../clients/typescript/src/index.ts';
import type { ResponseInfo } from '../../../clients/typescript/src/index.ts';

/** The package as whichever runtime has loaded it. */
export type ClientPackage = typeof clientPackage;

export type Exercised = {
  readonly taskId: string;
  readonly states: readonly string[];
  readonly film: string;
  readonly uploaded: string;
  readonly generated: string;
  readonly listed: readonly string[];
  readonly requestIds: readonly (string | undefined)[];
  readonly streamed: number;
  readonly balance: number;
  readonly refusal: readonly unknown[];
  readonly callback: string;
  readonly forgery: string;
  readonly aborted: string;
};

export type SignedCallback = {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly secrets: string;
};

/**
 * Uses every part of the package once, with nothing that only one runtime has: Node, Deno, Bun and a page in a browser
 * run this very function.
 */
export async function exerciseClient(
  { createClient, VideogenError, verifyCallback }: ClientPackage,
  baseUrl: string,
  signed: SignedCallback,
): Promise<Exercised> {
  const client = createClient({ baseUrl, key: 'vg_test' });
  const { taskId } = await client.createTask({ model: 'videogen-2.0', input: { prompt: 'A boat ⛵' } });
  const states: string[] = [];
  await client.waitForTask(taskId, { onRecord: ({ state }) => states.push(state) });
  const film = await (await (await client.download(taskId)).blob()).text();
  const { body } = await client.download(taskId);
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  const streamed = (await reader?.read())?.value?.byteLength ?? 0;
  const boat = new Blob(['boat'], { type: 'image/jpeg' });
  const input = { prompt: 'A boat ⛵', imageUrls: [(await client.upload(boat)).url] };
  const { record } = await client.generate({ model: 'videogen-2.0', input });
  const listed: string[] = [];
  const requestIds: (string | undefined)[] = [];
  const onResponse = ({ requestId }: ResponseInfo) => void requestIds.push(requestId);
  for await (const task of client.tasks({}, { onResponse })) listed.push(task.taskId);
  const kindOf = (error: unknown) => (error instanceof VideogenError ? error : undefined);
  const refusal = kindOf(await client.cancelTask('unknown').catch((error: unknown) => error));
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 20);
  const forged = { ...signed, body: `${signed.body} ` };
  return {
    taskId,
    states,
    film,
    uploaded: input.imageUrls.join(),
    generated: await (await client.download(record.taskId)).text(),
    listed,
    requestIds,
    streamed,
    balance: (await client.credits()).balance,
    refusal: [refusal?.kind, refusal?.code, refusal?.requestId],
    callback: (await verifyCallback(signed)).record.taskId,
    forgery: String(kindOf(await verifyCallback(forged).catch((error: unknown) => error))?.kind),
    aborted: String(await client.models({ signal: controller.signal }).catch((error: unknown) => error)),
  };
}
