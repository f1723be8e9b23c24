import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { Post } from '../../server/mail/post.ts'
import { Smtp } from '../../server/mail/smtp.ts'
import { systemNames } from '../../server/names.ts'
import { mailKinds } from '../../server/operations.ts'
import type { SmtpServer } from '../../server/setting.ts'
import { publicUrl, type Service } from './service.ts'

export interface ReceivedMail {
  /** The envelope's sender. */
  from: string
  to: string[]
  /** As bytes on the line, read as ASCII. */
  raw: string
  /** Decoded, by lower-case name. */
  headers: Record<string, string>
  text: string
  html: string
}

export interface MailServer {
  server: SmtpServer
  /** The mail that it took since the last call. */
  received(): ReceivedMail[]
  /** The status with which it refuses a recipient; 0 takes the mail. */
  refusal: number
  close(): Promise<void>
}

/** The environment of a service that sends mail. Where to does not matter if the test posts it itself. */
export const mailSettings = { SMTP_URL: 'smtp://127.0.0.1:25', MAIL_FROM: 'Orders <orders@example.com>' }

/** A real mail server on loopback. */
export async function startMailServer(
  options: SMTPServerOptions = { disabledCommands: ['AUTH', 'STARTTLS'] },
): Promise<MailServer> {
  let taken: ReceivedMail[] = []
  const smtp = new SMTPServer({
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 1,
    onRcptTo(_address, _session, done) {
      const { refusal } = mailServer
      done(refusal === 0 ? null : Object.assign(new Error('refused'), { responseCode: refusal }))
    },
    onData(stream, { envelope }, done) {
      const { mailFrom, rcptTo } = envelope
      text(stream).then((raw) => {
        const from = mailFrom ? mailFrom.address : ''
        taken.push({ from, to: rcptTo.map(({ address }) => address), raw, ...readMail(raw) })
        done()
      }, done)
    },
    ...options,
  })
  // A client that refuses the certificate is an error to it.
  smtp.on('error', () => undefined)
  smtp.listen(0, '127.0.0.1')
  await once(smtp.server, 'listening')
  const { port } = smtp.server.address() as AddressInfo
  let isClosed = false
  const mailServer: MailServer = {
    server: { host: '127.0.0.1', port, security: 'none', user: '', password: '' },
    refusal: 0,
    received() {
      const all = taken
      taken = []
      return all
    },
    close: () => {
      if (isClosed) return Promise.resolve()
      isClosed = true
      return new Promise((resolve) => smtp.close(resolve))
    },
  }
  return mailServer
}

const sender = { name: 'Orders', address: 'orders@example.com' }

/** Sends the mail of a service, by hand. */
export function postOf(
  service: Pick<Service, 'db' | 'now'>,
  { server }: Pick<MailServer, 'server'>,
  defaultTimeZone = 'Europe/Berlin',
) {
  const lines: Record<string, unknown>[] = []
  const keep = (members: object, msg?: string) => void lines.push({ ...members, msg })
  const post = new Post({
    db: service.db,
    clock: () => service.now(),
    publicUrl: () => publicUrl,
    defaultTimeZone,
    smtp: new Smtp(server, sender, systemNames()),
    kinds: mailKinds,
    organisationName: undefined,
    log: { info: keep, warn: keep } as never,
  })
  const queueAll = async () => {
    while (await post.queueNext());
  }
  return {
    post,
    queueAll,
    /** Queues what there is to say, and sends all that is due. */
    async sendAll() {
      await queueAll()
      while (await post.sendNext());
    },
    /** The lines of its log since the last call. */
    said: () => lines.splice(0),
  }
}

/** A mail of two parts, as the service sends them. */
export function readMail(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const { headers, body } = readPart(raw)
  const [, boundary] = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '') ?? []
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => readPart(part.replace(/^\r\n/, '')))
  const partOf = (type: string) => {
    const found = parts.find(({ headers }) => headers['content-type']?.startsWith(type))
    return found === undefined ? '' : decodeBody(found).replaceAll('\r\n', '\n')
  }
  return { headers, text: partOf('text/plain'), html: partOf('text/html') }
}

interface Part {
  headers: Record<string, string>
  body: string
}

function readPart(raw: string): Part {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(':')
    return [name.toLowerCase(), decodeWords(value.join(':').trim())]
  })
  return { headers: Object.fromEntries(headers), body: raw.slice(end + 4) }
}

/** RFC 2047. */
function decodeWords(value: string): string {
  return value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, encoding: string, coded: string) =>
      encoding.toUpperCase() === 'B'
        ? Buffer.from(coded, 'base64').toString()
        : decodeQuoted(coded.replaceAll('_', ' ')),
    )
}

function decodeBody({ headers, body }: Part): string {
  const encoding = headers['content-transfer-encoding']
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? decodeQuoted(body.replaceAll('=\r\n', '')) : body
}

function decodeQuoted(coded: string): string {
  const bytes = coded.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

/** The token of the link in a mail. */
export function tokenIn({ text }: Pick<ReceivedMail, 'text'>): string {
  return new URLSearchParams(/\/(?:link|new-email)#(\S+)/.exec(text)?.[1]).get('token') ?? ''
}
