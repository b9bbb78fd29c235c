import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { plainRequest, startHttpService } from '../support/service/http-service.ts';
import { waitFor } from '../support/wait-for.ts';

const eras = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' } as const;

for (const [era, mode] of Object.entries(eras)) {
  test(`videogen mcp connects a client of ${era} that starts programs`, async (t) => {
    const service = await startHttpService();
    t.after(() => service.close());
    const { accountId, key } = await service.newAccount(1_000);
    const start = async (apiKey: string, negotiation: typeof mode | 'auto' = mode) => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: negotiation } });
      const env = { VIDEOGEN_BASE_URL: service.url, VIDEOGEN_API_KEY: apiKey, PATH: process.env['PATH'] ?? '' };
      await client.connect(
        new StdioClientTransport({ command: 'node', args: ['dist/src/run/cli/cli.js', 'mcp'], env }),
      );
      t.after(() => client.close());
      return client;
    };
    const client = await start(key);
    assert.equal(client.getServerVersion()?.name, 'videogen');
    assert.equal((await client.listTools()).tools.length, 8);
    const generated = await client.callTool({ name: 'generate_video', arguments: plainRequest });
    assert.ok(service.started.some((task) => task.accountId === accountId));
    const { taskId } = generated.structuredContent as { readonly taskId: string };
    const [first, second] = await Promise.all([
      client.callTool({ name: 'get_video', arguments: { taskId } }),
      client.callTool({ name: 'get_balance', arguments: {} }),
    ]);
    assert.equal((first.structuredContent as { readonly state: string }).state, 'waiting');
    assert.equal((second.structuredContent as { readonly balance: number }).balance, 835);
    const { wait } = service.deps.taskWaiters;
    const waiting = new Promise<void>((resolve) => {
      service.deps.taskWaiters.wait = (request) => {
        resolve();
        return wait(request);
      };
    });
    const cancelling = new AbortController();
    const given = { taskId, wait_seconds: 50 };
    const held = client.callTool({ name: 'get_video', arguments: given }, { signal: cancelling.signal });
    await waiting;
    cancelling.abort();
    await assert.rejects(held);
    await waitFor('the end of the held request', () =>
      Promise.resolve(service.log.find(({ tool, aborted }) => tool === 'get_video' && aborted === true)),
    );
    await assert.rejects(start('vg_unknown', 'auto'), /unauthorized: a valid API key is required/);
  });
}
