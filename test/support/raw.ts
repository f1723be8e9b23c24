import { connect } from 'node:net'
import { noteAnswer } from './discretion.ts'

/** The first answer on a connection, as sent on the wire. */
export interface RawAnswer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

const limitMilliseconds = 10_000

/**
 * Writes bytes to a new connection and reads until the server closes it, so the request should ask for that
 * (`Connection: close`). Resolves with what arrived, even if the connection was then reset; rejects if that
 * is not an HTTP answer.
 */
export function exchange(baseUrl: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect({ host: hostname, port: Number(port) })
    socket.setTimeout(limitMilliseconds, () => socket.destroy())
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    // The server may close while the rest is still being sent.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      const answer = parseAnswer(received)
      if (answer === undefined) return reject(new Error('the connection ended without an answer'))
      noteAnswer(answer.status, answer.headers, answer.text)
      resolve(answer)
    })
    for (const part of parts) socket.write(part)
  })
}

/** A request with the headers that HTTP/1.1 requires; `lines` are further header lines. */
export function request(method: string, path: string, lines: string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines, ...length]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

function parseAnswer(received: string): RawAnswer | undefined {
  const [head = '', ...rest] = received.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]
  if (status === undefined) return undefined
  const headers = new Headers()
  for (const line of lines) {
    const separator = line.indexOf(':')
    headers.append(line.slice(0, separator), line.slice(separator + 1).trim())
  }
  const text = rest.join('\r\n\r\n')
  return { status: Number(status), headers, text, body: parseJson(text) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
