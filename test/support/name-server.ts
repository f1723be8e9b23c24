import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** The addresses of a name, of both families; a status of an answer without any; undefined for silence. */
type Records = readonly string[] | { status: number } | undefined

export interface NameServer {
  /** As `Resolver.setServers` takes it. */
  address: string
  /** `A orders.example` for each question, in the order in which they came. */
  asked: string[]
}

const types: Record<number, string> = { 1: 'A', 28: 'AAAA' }

/** A name server on loopback, until the test ends. */
export async function startNameServer(
  t: { after(hook: () => unknown): void },
  recordsOf: (name: string, type: string) => Records,
): Promise<NameServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (message, { address, port }) => {
    const { name, type, end } = questionIn(message)
    asked.push(`${type} ${name}`)
    const records = recordsOf(name, type)
    if (records === undefined) return
    const status = 'status' in records ? records.status : 0
    const found = 'status' in records ? [] : records.filter((one) => one.includes(':') === (type === 'AAAA'))
    const head = Buffer.from(message.subarray(0, 12))
    head.writeUInt16BE(0x8180 | status, 2)
    head.writeUInt16BE(found.length, 6)
    head.writeUInt16BE(0, 10)
    socket.send(Buffer.concat([head, message.subarray(12, end), ...found.map(recordOf)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function questionIn(message: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: types[message.readUInt16BE(at + 1)] ?? '?',
    end: at + 5,
  }
}

/** Answers for the name in the question, and may not be kept. */
function recordOf(address: string): Buffer {
  const bytes = address.includes(':')
    ? Buffer.from(expanded(address), 'hex')
    : Buffer.from(address.split('.').map(Number))
  const head = Buffer.from([0xc0, 12, 0, bytes.length === 16 ? 28 : 1, 0, 1, 0, 0, 0, 0, 0, bytes.length])
  return Buffer.concat([head, bytes])
}

function expanded(address: string): string {
  const [before = '', after = ''] = address.split('::').map((half) =>
    half
      .split(':')
      .map((group) => (group === '' ? '' : group.padStart(4, '0')))
      .join(''),
  )
  return before.padEnd(32 - after.length, '0') + after
}
