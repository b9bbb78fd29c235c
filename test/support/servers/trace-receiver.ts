import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';
import { z } from 'zod';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { waitFor } from '../wait-for.ts';

/** The path of an OpenTelemetry collector with an OTLP receiver and an OTLP/HTTP exporter. Without it spans come here directly. */
export const collectorPath = process.env['VIDEOGEN_TEST_OTELCOL'];

export type SeenSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** 2 is a server's, 3 a client's. */
  readonly kind: number;
  /** 2 is an error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, unknown>>;
};

export type TraceReceiver = {
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly SeenSpan[];
  /** All that has come, in every letter. */
  readonly text: () => string;
  close(): Promise<void>;
};

/** Takes OTLP over HTTP, as protobuf; `through` puts a real collector before it. */
export async function startTraceReceiver(through?: string): Promise<TraceReceiver> {
  const spans: SeenSpan[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies.push(body.toString('latin1'));
      spans.push(...decode(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  const own = `http://127.0.0.1:${port}`;
  const collector = through === undefined ? undefined : await startCollector(through, own);
  return {
    url: collector?.url ?? own,
    spans,
    text: () => bodies.join('\n'),
    close: async () => {
      await collector?.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function startCollector(program: string, target: string) {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-otelcol-'));
  const endpoint = `127.0.0.1:${await reserveFreePort()}`;
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint } } } },
    exporters: { otlphttp: { endpoint: target, compression: 'none' } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['otlphttp'] } },
    },
  };
  const path = join(folder, 'config.json');
  await writeFile(path, JSON.stringify(config));
  const child: ChildProcess = spawn(program, ['--config', path], { stdio: 'ignore' });
  const url = `http://${endpoint}`;
  await waitFor('the collector', async () => {
    if (child.exitCode !== null) throw new Error(`the collector ended with ${child.exitCode}`);
    return (await fetch(url).catch(() => undefined)) === undefined ? undefined : true;
  });
  return {
    url,
    close: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

/** The part of the protocol's description that tests read. */
const { root } = protobuf.parse(`syntax = "proto3";
message Request { repeated ResourceSpans resourceSpans = 1; }
message ResourceSpans { repeated ScopeSpans scopeSpans = 2; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
  repeated KeyValue attributes = 9; Status status = 15;
}
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; } }
message Status { int32 code = 3; }`);

const hex = z.instanceof(Uint8Array).transform((bytes) => Buffer.from(bytes).toString('hex'));
const attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const request = z.object({
  resourceSpans: z.array(
    z.object({
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              name: z.string(),
              traceId: hex,
              spanId: hex,
              parentSpanId: hex,
              kind: z.number(),
              status: z.object({ code: z.number() }).nullable(),
              attributes: z.array(attribute),
            }),
          ),
        }),
      ),
    }),
  ),
});

function decode(body: Buffer): readonly SeenSpan[] {
  const type = root.lookupType('Request');
  const plain = type.toObject(type.decode(body), { longs: Number, defaults: true, oneofs: false });
  return request
    .parse(plain)
    .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map(({ status, attributes, ...span }) => ({
      ...span,
      status: status?.code ?? 0,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }));
}
