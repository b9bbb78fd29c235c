import assert from 'node:assert/strict';
import { test } from 'node:test';
import { upstreamCanReachUs } from '../../../../src/platform/outbound/guard/upstream-can-reach-us.ts';

const hosted = 'https://api.replicate.com/v1';
const inNetwork = ['http://10.0.0.7:9000', 'http://192.168.1.4', 'http://gpu1:8000/v1', 'http://[fd00::7]:80'];
const onMachine = ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000'];

test('a public address is reached by everybody', () => {
  for (const own of ['https://video.example.com', 'http://93.184.216.34:3000', 'https://[2606:4700::1]']) {
    for (const upstream of [hosted, ...inNetwork, ...onMachine])
      assert.ok(upstreamCanReachUs(own, upstream), `${own} ${upstream}`);
  }
});

test('an address of a private network is reached from there alone', () => {
  for (const own of inNetwork) {
    assert.ok(!upstreamCanReachUs(own, hosted), own);
    for (const upstream of [...inNetwork, ...onMachine])
      assert.ok(upstreamCanReachUs(own, upstream), `${own} ${upstream}`);
  }
});

test('an address of this machine is reached from this machine alone', () => {
  for (const own of [...onMachine, 'http://0.0.0.0:3000', 'http://[::]:3000']) {
    for (const upstream of [hosted, ...inNetwork]) assert.ok(!upstreamCanReachUs(own, upstream), `${own} ${upstream}`);
    for (const upstream of onMachine) assert.ok(upstreamCanReachUs(own, upstream), `${own} ${upstream}`);
  }
});
