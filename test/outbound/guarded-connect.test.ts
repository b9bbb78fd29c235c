import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { verified } from '../../src/outbound/guarded-connect.ts';

function socketTo(remoteAddress: string): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
}

test('a socket that ended up at another address is destroyed before a byte is sent', () => {
  const socket = socketTo('10.0.0.1');
  assert.throws(() => verified(socket, '8.8.8.8'), { kind: 'blocked' });
  assert.ok(socket.destroyed);
});

test('a socket at the checked address is handed on', () => {
  const socket = socketTo('8.8.8.8');
  assert.equal(verified(socket, '8.8.8.8'), socket);
  socket.destroy();
});
