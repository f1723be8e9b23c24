import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/**
 * What the proxy does with connections: `pass` forwards them; `refuse` does not listen and resets open ones;
 * `hang` accepts and swallows everything, on open ones too; `cut` resets open ones, and new ones once they
 * are made; a number delays every answer by that many milliseconds.
 */
export type ProxyMode = 'pass' | 'refuse' | 'hang' | 'cut' | { delayMilliseconds: number }

/** A TCP proxy on loopback that produces faults of a network and of the server behind it. */
export interface FaultProxy {
  /** The given address with the host and port of the proxy. */
  url: string
  /** Resolves once the mode is in force. */
  set(mode: ProxyMode): Promise<void>
  /**
   * Waits for bytes with `text` from a client that has sent `of` since, forwards them, and resets open
   * connections instead of their answer.
   */
  cutAfter(text: string, of?: string): void
  /** Resets open connections instead of forwarding such bytes. */
  cutBefore(text: string, of?: string): void
  /** New connections that `cut` has met. */
  cutCount: number
  close(): Promise<void>
}

export async function startProxy(targetUrl: string): Promise<FaultProxy> {
  const proxy = new TcpProxy(new URL(targetUrl))
  await proxy.listen()
  return proxy
}

interface Link {
  client: Socket
  server: Socket
  /** Reset instead of the next answer. */
  isDoomed: boolean
  /** A connection that lived through `hang` never answers again: its state is lost on the way. */
  isLost: boolean
}

class TcpProxy implements FaultProxy {
  url: string
  cutCount = 0
  readonly #target: { host: string; port: number }
  readonly #links = new Set<Link>()
  #listener: Server | undefined
  #port = 0
  #mode: ProxyMode = 'pass'
  #trap: { text: string; of: string; meant: WeakSet<Link>; isPassedOn: boolean } | undefined

  constructor(target: URL) {
    this.url = target.href
    this.#target = { host: target.hostname, port: Number(target.port || 5432) }
  }

  async listen(): Promise<void> {
    const listener = createServer({ allowHalfOpen: false }, (client) => this.#accept(client))
    listener.listen(this.#port, '127.0.0.1')
    await once(listener, 'listening')
    this.#listener = listener
    this.#port = (listener.address() as AddressInfo).port
    const url = new URL(this.url)
    url.hostname = '127.0.0.1'
    url.port = String(this.#port)
    this.url = url.href
  }

  async set(mode: ProxyMode): Promise<void> {
    this.#mode = mode
    if (mode === 'hang') for (const link of this.#links) link.isLost = true
    if (mode === 'refuse' || mode === 'cut') this.#reset()
    if (mode === 'refuse') await this.#stopListening()
    else if (this.#listener === undefined) await this.listen()
  }

  cutAfter(text: string, of = ''): void {
    this.#trap = { text, of, meant: new WeakSet(), isPassedOn: true }
  }

  cutBefore(text: string, of = ''): void {
    this.#trap = { text, of, meant: new WeakSet(), isPassedOn: false }
  }

  async close(): Promise<void> {
    this.#reset()
    await this.#stopListening()
  }

  async #stopListening(): Promise<void> {
    const listener = this.#listener
    if (listener === undefined) return
    this.#listener = undefined
    const closed = once(listener, 'close')
    listener.close()
    this.#reset()
    await closed
  }

  #reset(): void {
    for (const { client, server } of this.#links) {
      client.resetAndDestroy()
      server.destroy()
    }
  }

  #accept(client: Socket): void {
    if (this.#mode === 'cut' || this.#mode === 'refuse') {
      this.cutCount += 1
      client.on('error', () => undefined)
      client.resetAndDestroy()
      return
    }
    const server = connect(this.#target)
    const link: Link = { client, server, isDoomed: false, isLost: this.#mode === 'hang' }
    this.#links.add(link)
    client.setNoDelay()
    server.setNoDelay()
    client.on('data', (data: Buffer) => this.#fromClient(link, data))
    server.on('data', (data: Buffer) => this.#late(link, () => client.write(data)))
    client.on('error', () => undefined)
    server.on('error', () => undefined)
    client.on('close', () => {
      this.#links.delete(link)
      server.destroy()
    })
    server.on('close', () => {
      // A network that swallows everything also swallows the end of a connection.
      if (!link.isLost) client.destroy()
    })
  }

  #fromClient(link: Link, data: Buffer): void {
    if (link.isLost) return
    const trap = this.#trap
    if (trap !== undefined && data.includes(trap.of)) trap.meant.add(link)
    if (!trap?.meant.has(link) || !data.includes(trap.text)) {
      link.server.write(data)
      return
    }
    this.#trap = undefined
    if (trap.isPassedOn) {
      link.server.write(data)
      link.isDoomed = true
    } else this.#reset()
  }

  /**
   * Timers of one length fire in the order in which they were set, so that bytes keep their order. They keep
   * no process alive once the proxy is closed.
   */
  #late(link: Link, pass: () => void): void {
    if (link.isLost) return
    if (link.isDoomed) {
      this.#reset()
      return
    }
    const mode = this.#mode
    if (typeof mode === 'string') pass()
    else setTimeout(() => link.isLost || link.client.destroyed || pass(), mode.delayMilliseconds).unref()
  }
}
