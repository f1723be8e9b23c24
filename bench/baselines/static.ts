import { createServer } from 'node:http'

/** The least that node:http can do: one answer, of an order's size, to every request. */
const body = JSON.stringify({ id: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57', filler: 'x'.repeat(280) })
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }

createServer((_request, response) => response.writeHead(200, headers).end(body)).listen(
  Number(process.env.PORT),
  '127.0.0.1',
)
process.on('SIGTERM', () => process.exit(0))
