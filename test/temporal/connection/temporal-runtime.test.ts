import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { Runtime } from '@temporalio/worker';
import { createLog } from '../../../src/platform/log/log.ts';
import { installTemporalRuntime, ourLogLevelOf } from '../../../src/temporal/connection/temporal-runtime.ts';

// The runtime ends with its last worker.
after(() => Runtime.instance().shutdown());

test("a warning of Temporal's SDK is one of ours, but for the one about workers that are meant to be without workflows", () => {
  assert.equal(ourLogLevelOf('WARN', 'Failed to encode heartbeat details, cancelling Activity'), 'warn');
  assert.equal(ourLogLevelOf('WARN', 'No workflows registered, not polling for workflow tasks'), 'info');
});

test("the native part of Temporal's SDK writes into our log, not over what stands in the terminal", async () => {
  await installTemporalRuntime(createLog({ level: 'silent' }));
  assert.equal(Runtime.instance().options.runtimeOptions.logExporter.type, 'forward');
});

test("Temporal's SDK leaves the signals to the entry points, which end the servers in order", async () => {
  await installTemporalRuntime(createLog({ level: 'silent' }));
  assert.deepEqual(Runtime.instance().options.shutdownSignals, []);
});

for (const [host, shown, reason] of [
  ['127.0.0.1', '127.0.0.1', /in use/],
  // A machine may have no address of this kind.
  ['::1', '[::1]', /./],
] as const)
  test(`a taken port for the metrics of Temporal's SDK ends the start with its address on ${host}`, async (t) => {
    const server = createServer();
    t.after(() => server.close());
    const isListening = once(server, 'listening').catch(() => undefined);
    server.listen(0, host);
    await isListening;
    const port = server.listening ? (server.address() as AddressInfo).port : 9; // It listens on TCP.
    // In a process of its own, because a process has one runtime.
    const program = `
      const { installTemporalRuntime } = await import(${moduleUrl('temporal/connection/temporal-runtime')});
      const { createLog } = await import(${moduleUrl('platform/log/log')});
      const settings = { host: '${host}', temporalMetricsPort: ${port} };
      await installTemporalRuntime(createLog({ level: 'silent' }), settings).catch((error) => console.log(String(error)));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    const message = `metrics of Temporal's SDK cannot be served on ${shown}:${port}: `;
    assert.ok(stdout.includes(message), stdout);
    assert.match(stdout.slice(stdout.indexOf(message) + message.length), reason);
  });

function moduleUrl(name: string): string {
  return JSON.stringify(new URL(`../../../src/${name}.js`, import.meta.url).href);
}
