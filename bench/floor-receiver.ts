import { createServer } from 'node:http';

// A separate process: the receiver of a client, which responds with 204
// immediately. It returns the number of callbacks when it gets a message.

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
