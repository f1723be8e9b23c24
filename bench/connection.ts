import { connect, type Socket } from 'node:net'
import type { Sender } from './requests.ts'

const readBytes = 64 * 1024
const headEnd = Buffer.from('\r\n\r\n')

/** Called for every answer: its status (0 when the connection was lost) and how long it took. */
export type OnAnswer = (status: number, milliseconds: number) => void

/**
 * One keep-alive connection, without pipelining: it sends a request when the last answer is complete. It
 * parses only the status and length of an answer, and reads into one buffer, so that the load costs less than
 * what it measures.
 */
export class LoadConnection {
  readonly #socket: Socket
  readonly #sender: Sender
  readonly #onAnswer: OnAnswer
  readonly #pauseMilliseconds: number
  #pending: Buffer[] = []
  #sentAt = 0
  #isOver = false
  /**
   * False while the connection is made. Its first request waits for that, so each connection sends at least
   * one.
   */
  #isIdle = false
  #finish: () => void = () => undefined
  /** Resolves when the last answer has arrived, or can no longer arrive. */
  readonly finished = new Promise<void>((resolve) => {
    this.#finish = resolve
  })

  constructor(port: number, sender: Sender, pauseMilliseconds: number, onAnswer: OnAnswer) {
    this.#sender = sender
    this.#onAnswer = onAnswer
    this.#pauseMilliseconds = pauseMilliseconds
    const buffer = Buffer.allocUnsafe(readBytes)
    const callback = (bytes: number) => {
      this.#read(buffer, bytes)
      return true
    }
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true, onread: { buffer, callback } })
    this.#socket.on('connect', () => this.#ask())
    this.#socket.on('error', () => this.#lose())
    this.#socket.on('close', () => this.#lose())
  }

  /** The current request is still answered. */
  end(): void {
    this.#isOver = true
    if (this.#isIdle) this.#close()
  }

  #close(): void {
    this.#isOver = true
    this.#socket.destroy()
    this.#finish()
  }

  #send(): void {
    if (this.#isOver) this.#close()
    else this.#ask()
  }

  #ask(): void {
    this.#isIdle = false
    this.#sentAt = performance.now()
    this.#socket.write(this.#sender.next())
  }

  #lose(): void {
    if (!this.#isIdle) this.#onAnswer(0, performance.now() - this.#sentAt)
    this.#isIdle = true
    this.#close()
  }

  #read(buffer: Buffer, bytes: number): void {
    if (this.#pending.length === 0 && this.#take(buffer, bytes)) return
    this.#pending.push(Buffer.from(buffer.subarray(0, bytes)))
    if (this.#pending.length === 1) return
    const whole = Buffer.concat(this.#pending)
    this.#pending = [whole]
    if (this.#take(whole, whole.length)) this.#pending = []
  }

  /** False while the answer is incomplete. */
  #take(buffer: Buffer, bytes: number): boolean {
    const end = buffer.indexOf(headEnd)
    if (end < 0 || end >= bytes) return false
    const head = buffer.toString('latin1', 0, end)
    const length = /content-length: *(\d+)/i.exec(head)?.[1]
    const bodyStart = end + headEnd.length
    if (length !== undefined && bytes < bodyStart + Number(length)) return false
    const status = Number(head.slice(9, 12))
    this.#pending = []
    this.#isIdle = true
    this.#onAnswer(status, performance.now() - this.#sentAt)
    if (this.#sender.readsBody && status === 200) {
      this.#sender.answered(buffer.toString('utf8', bodyStart, bodyStart + Number(length)))
    }
    if (this.#pauseMilliseconds === 0) this.#send()
    else setTimeout(() => this.#send(), this.#pauseMilliseconds)
    return true
  }
}
