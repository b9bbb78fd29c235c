import { createServer } from 'node:http';

// A process of its own: a client's receiver that answers 204 at once. Asked over its channel, it says how many came.

let received = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    received += 1;
    response.writeHead(204, { 'Content-Length': '0' }).end();
  });
});
process.on('message', () => process.send?.({ received }));
process.once('SIGTERM', () => process.exit(0));
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.('ready'));
