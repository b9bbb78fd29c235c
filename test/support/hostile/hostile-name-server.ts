import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A name server on loopback: answers every question for IPv4 with `addresses`, every other one with nothing. */
export type HostileNameServer = { readonly server: string; readonly asked: () => number; readonly close: () => void };

/** `undefined` makes a server that never answers. */
export async function hostileNameServer(addresses: readonly string[] | undefined): Promise<HostileNameServer> {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (question, { port, address }) => {
    asked += 1;
    if (addresses !== undefined) socket.send(answerTo(question, addresses), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, asked: () => asked, close: () => socket.close() };
}

const headerBytes = 12;
const typeA = 1;

/** RFC 1035, section 4: header, the question as it came, and answers which point back to its name. */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const nameEnd = question.indexOf(0, headerBytes);
  const asked = question.subarray(headerBytes, nameEnd + 5);
  const records = question.readUInt16BE(nameEnd + 1) === typeA ? addresses.map(recordOf) : [];
  const header = Buffer.alloc(headerBytes);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, asked, ...records]);
}

function recordOf(address: string): Buffer {
  const fixed = Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))]);
}
