import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** The startup parameters that PgBouncer accepts; it refuses any other. */
const startParameters = ['user', 'database', 'application_name', 'client_encoding', 'DateStyle', 'TimeZone']

export interface Pooler {
  /** The given address, but leading through the pooler. */
  url: string
  close(): Promise<void>
}

/**
 * Behaves like PgBouncer 1.18 on loopback without passwords. `session` gives each client its own connection.
 * `transaction` lends one of a few for the length of a transaction, the last used one first, with whatever
 * state its last client left.
 */
export async function startPooler(targetUrl: string, mode: 'session' | 'transaction'): Promise<Pooler> {
  const target = new URL(targetUrl)
  const pool = new Pool(target)
  const sockets = new Set<Socket>()
  const listener: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => socket.destroy()))
    serve(socket, pool, mode)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const url = new URL(target)
  url.port = String((listener.address() as AddressInfo).port)
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy()
      pool.close()
      listener.close()
      await once(listener, 'close')
    },
  }
}

function serve(socket: Socket, pool: Pool, mode: 'session' | 'transaction'): void {
  let held: Backend | undefined
  let unanswered = 0
  const release = () => {
    held?.listen(undefined)
    if (held !== undefined) pool.give(held, mode === 'transaction')
    held = undefined
  }
  socket.on('close', release)
  readMessages(socket, async (type, message) => {
    if (type === '') return begin(socket, message, pool)
    if (type === 'X') return void socket.end()
    held ??= await pool.take()
    held.listen((answerType, answer) => {
      socket.write(answer)
      if (answerType === 'Z') unanswered -= 1
      const isIdle = answerType === 'Z' && answer.at(-1) === 'I'.charCodeAt(0)
      if (isIdle && unanswered === 0 && mode === 'transaction') release()
    })
    if (type === 'Q' || type === 'S') unanswered += 1
    held.socket.write(message)
  })
}

async function begin(socket: Socket, message: Buffer, pool: Pool): Promise<void> {
  // Length, protocol, then names and values alternately.
  const words = message.subarray(8).toString('latin1').split('\0')
  const unknown = words.find(
    (name, index) => index % 2 === 0 && name !== '' && !startParameters.includes(name),
  )
  if (unknown !== undefined) {
    const fields = `SFATAL\0C08P01\0Munsupported startup parameter: ${unknown}\0\0`
    const header = Buffer.from('E\0\0\0\0', 'latin1')
    header.writeUInt32BE(4 + fields.length, 1)
    socket.end(Buffer.concat([header, Buffer.from(fields, 'latin1')]))
    return
  }
  const backend = await pool.take()
  socket.write(backend.greeting)
  pool.give(backend, true)
}

type Listener = (type: string, message: Buffer) => void

/** A connection to the server, already signed in. */
interface Backend {
  socket: Socket
  /** The server's messages after the sign-in. */
  greeting: Buffer
  listen(listener: Listener | undefined): void
}

class Pool {
  readonly #target: URL
  readonly #idle: Backend[] = []
  readonly #all = new Set<Socket>()

  constructor(target: URL) {
    this.#target = target
  }

  async take(): Promise<Backend> {
    return this.#idle.pop() ?? this.#open()
  }

  give(backend: Backend, isClean: boolean): void {
    if (isClean) this.#idle.push(backend)
    else backend.socket.destroy()
  }

  close(): void {
    for (const socket of this.#all) socket.destroy()
  }

  #open(): Promise<Backend> {
    const { hostname, port, username, pathname } = this.#target
    const socket = connect(Number(port), hostname)
    this.#all.add(socket.on('error', () => socket.destroy()))
    const words = `user\0${username}\0database\0${pathname.slice(1)}\0\0`
    const start = Buffer.alloc(8 + words.length)
    start.writeUInt32BE(start.length, 0)
    start.writeUInt32BE(196_608, 4)
    start.write(words, 8, 'latin1')
    socket.write(start)
    return new Promise((resolve) => {
      const greeting: Buffer[] = []
      const listen = (next: Listener | undefined) => {
        listener = next
      }
      let listener: Listener | undefined = (type, message) => {
        greeting.push(message)
        if (type !== 'Z') return
        listener = undefined
        resolve({ socket, greeting: Buffer.concat(greeting), listen })
      }
      readMessages(socket, (type, message) => listener?.(type, message), true)
    })
  }
}

/** Calls back for each whole message in turn. A client's first message has no type. */
function readMessages(
  socket: Socket,
  take: (type: string, message: Buffer) => unknown,
  isTyped = false,
): void {
  let bytes = Buffer.alloc(0)
  let hasBegun = isTyped
  let work = Promise.resolve<unknown>(undefined)
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const typeBytes = hasBegun ? 1 : 0
      if (bytes.length < 4 + typeBytes) return
      const length = typeBytes + bytes.readUInt32BE(typeBytes)
      if (bytes.length < length) return
      const message = bytes.subarray(0, length)
      const type = hasBegun ? message.toString('latin1', 0, 1) : ''
      bytes = bytes.subarray(length)
      hasBegun = true
      work = work.then(() => take(type, message))
    }
  })
}
