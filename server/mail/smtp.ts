import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { domainToASCII } from 'node:url'
import type { Transporter } from 'nodemailer'
import { lookupBy, type Resolve, whyUnreachable } from '../names.ts'
import { mailablePattern, type Sender, type SmtpServer } from '../setting.ts'
import { html, type Message, plainText } from './message.ts'

/** Each step of a delivery; shorter than the first pause after an attempt. */
const stepLimitMilliseconds = 10_000

export interface Letter {
  email: string
  message: Message
  nowMilliseconds: number
}

/** Hands letters over to the mail server. */
export class Smtp {
  readonly #server: SmtpServer
  readonly #from: Sender
  readonly #resolve: Resolve
  readonly #tls: object
  #transporter: Transporter | undefined

  /** `tls` is for a server whose certificate no public authority signed. */
  constructor(server: SmtpServer, from: Sender, resolve: Resolve, tls: object = {}) {
    this.#server = server
    this.#from = from
    this.#resolve = resolve
    this.#tls = tls
  }

  /** For the log. */
  get host(): string {
    return this.#server.host
  }

  /** Resolves once the server has taken the letter. Throws the error of nodemailer, or `Unmailable`. */
  async send({ email, message, nowMilliseconds }: Letter): Promise<void> {
    if (!mailablePattern.test(email)) throw new Unmailable()
    this.#transporter ??= await this.#connect()
    const { subject, settings } = message
    await this.#transporter.sendMail({
      from: this.#from,
      to: { name: '', address: email },
      subject,
      text: plainText(message),
      html: html(message),
      date: new Date(nowMilliseconds),
      // RFC 3834: nobody's holiday notice answers.
      headers: { 'Auto-Submitted': 'auto-generated' },
      ...(settings === undefined ? {} : { list: { unsubscribe: settings } }),
    })
  }

  /** Ends the connections. The next letter opens a new one. */
  close(): void {
    this.#transporter?.close()
    this.#transporter = undefined
  }

  async #connect(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer')
    const { host, port, security, user, password } = this.#server
    return createTransport({
      pool: true,
      maxConnections: 1,
      host,
      port,
      // Some servers refuse a name that is none, such as that of a container.
      name: domainToASCII(this.#from.address.replace(/.*@/, '')),
      getSocket: (_options: unknown, done: (error: Error | null, given?: { connection: Socket }) => void) => {
        connectTo(this.#server, this.#resolve).then((connection) => done(null, { connection }), done)
      },
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      tls: this.#tls,
      ...(user === '' ? {} : { auth: { user, pass: password } }),
      connectionTimeout: stepLimitMilliseconds,
      greetingTimeout: stepLimitMilliseconds,
      socketTimeout: stepLimitMilliseconds,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
}

/** nodemailer would ask for the name itself. */
async function connectTo({ host, port }: SmtpServer, resolve: Resolve): Promise<Socket> {
  const signal = AbortSignal.timeout(stepLimitMilliseconds)
  const socket = connect({ host, port, lookup: lookupBy(resolve) })
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw signal.aborted ? Object.assign(new Error('too late'), { code: 'ETIMEDOUT' }) : error
  }
}

/** The account has an email to which no mail can be sent. */
export class Unmailable extends Error {
  override name = 'Unmailable'
  override message = 'no mail can be sent to the address of the account'
}

/** nodemailer's codes in words. */
const meanings: Record<string, string> = {
  EAUTH: 'it refused the user or the password',
  ECONNECTION: 'it ended the connection',
  EENVELOPE: 'it refused the sender or the recipient',
  EMESSAGE: 'it refused the message',
  EPROTOCOL: 'it does not speak SMTP',
}

interface MailError extends Error {
  code?: string
  originalCode?: string
  responseCode?: number
}

/** Why the server took no mail, or refused one, without address or content. */
export function reasonOf(error: unknown): string {
  const { code = '', originalCode, responseCode, message } = error as MailError
  if (code === 'ETLS') return message
  const meaning = meanings[code]
  if (meaning !== undefined) return `${meaning} (${responseCode ?? code})`
  return whyUnreachable({ ...(error as MailError), message, code: originalCode ?? code })
}

/** Whether the server refused one letter, and would take others. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Unmailable ||
    ['EENVELOPE', 'EMESSAGE'].includes((error as NodeJS.ErrnoException).code ?? '')
  )
}
