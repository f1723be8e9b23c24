import type { Transporter } from 'nodemailer'
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
  readonly #tls: object
  #transporter: Transporter | undefined

  /** `tls` is for a server whose certificate no public authority signed. */
  constructor(server: SmtpServer, from: Sender, tls: object = {}) {
    this.#server = server
    this.#from = from
    this.#tls = tls
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
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      tls: this.#tls,
      ...(user === '' ? {} : { auth: { user, pass: password } }),
      connectionTimeout: stepLimitMilliseconds,
      greetingTimeout: stepLimitMilliseconds,
      socketTimeout: stepLimitMilliseconds,
      dnsTimeout: stepLimitMilliseconds,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
}

/** The account has an email to which no mail can be sent. */
export class Unmailable extends Error {
  override name = 'Unmailable'
}

/** Why the server refused a mail, without address or content. */
export function reasonOf(error: unknown): string {
  const { code, responseCode, name } = error as NodeJS.ErrnoException & { responseCode?: number }
  return [code ?? name, responseCode].filter((part) => part !== undefined).join(' ')
}

/** Whether the server refused one letter, and would take others. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Unmailable ||
    ['EENVELOPE', 'EMESSAGE'].includes((error as NodeJS.ErrnoException).code ?? '')
  )
}
