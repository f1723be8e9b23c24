import { Temporal } from '../temporal.ts'

/** What a mail says: once, for its plain text and for its HTML. */
export interface Message {
  subject: string
  /** In the order in which they are read. */
  blocks: readonly Block[]
  /** Why the recipient gets the mail. */
  reason: string
  /** The page that ends mail of this kind. Absent if the mail is about the account's security. */
  settings?: string | undefined
}

/** A paragraph, a list, or a link that stands alone. */
export type Block = string | { items: readonly string[] } | { link: string; label: string }

const lineWidth = 72

/**
 * Where mail programs would see a link: a dot before two letters or in an IPv4 address, `@`, a backslash,
 * `:` behind a scheme, and `//`; in other widths, too.
 */
const seams =
  /[.。．｡․﹒](?=\p{L}{2}|\d+[.。．｡․﹒]\d)|(?<=\d[.。．｡․﹒]\d+)[.。．｡․﹒](?=\d)|[@＠﹫\\＼](?=\S)|[:：﹕](?=[^\s\d])|[/／](?=[/／])|(?<=[/／])[/／](?=\S)/gu

/**
 * The message with no link but its own ones: what people wrote must not become one in the name of the
 * service. A hair space breaks it up, because programs that find links ignore characters without a width.
 */
function unlinked({ subject, blocks, reason, settings }: Message): Message {
  const own = new Set(blocks.flatMap((block) => (hasLink(block) ? [new URL(block.link).host] : [])))
  const apart = (text: string) =>
    text.replaceAll(/\S+/g, (word) =>
      own.has(word.replace(/[.,]$/, '')) ? word : word.replaceAll(seams, '$&\u200a'),
    )
  const texts = blocks.map((block) => {
    if (typeof block === 'string') return apart(block)
    return hasLink(block) ? block : { items: block.items.map(apart) }
  })
  return { subject, blocks: texts, reason: apart(reason), settings }
}

const hasLink = (block: Block) => typeof block !== 'string' && 'link' in block

/** Lines break at 72 columns, except within a link. */
export function plainText(message: Message): string {
  const { blocks, reason, settings } = unlinked(message)
  const parts = blocks.map((block) => {
    if (typeof block === 'string') return wrapped(block)
    if ('link' in block) return `${block.label}:\n${block.link}`
    return block.items.map((item) => wrapped(item, '- ', '  ')).join('\n')
  })
  const footer = settings === undefined ? wrapped(reason) : `${wrapped(reason)}\n${settings}`
  return `${[...parts, `-- \n${footer}`].join('\n\n')}\n`
}

function wrapped(text: string, first = '', indent = ''): string {
  const [start, ...words] = text.split(/ +/)
  const lines: string[] = []
  let line = `${first}${start}`
  for (const word of words) {
    const isFull = line.length + 1 + word.length > lineWidth
    if (isFull) lines.push(line)
    line = isFull ? indent + word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

/** Mail programs drop style sheets, so each element has its style. */
const styles = {
  body: 'margin:0;padding:24px;background:#f4f5f7;color:#1d2330;font:16px/1.5 system-ui,sans-serif',
  card: 'max-width:560px;margin:0 auto;padding:24px 32px;background:#ffffff;border:1px solid #d9dce3;border-radius:8px',
  button:
    'display:inline-block;padding:10px 18px;background:#2451b3;color:#ffffff;border-radius:6px;text-decoration:none',
  link: 'color:#2451b3;word-break:break-all',
  footer: 'max-width:560px;margin:16px auto 0;padding:0 32px;color:#5a6272;font-size:13px',
}

/** Loads nothing: no picture, no font, no script. */
export function html(message: Message): string {
  const { subject, blocks, reason, settings } = unlinked(message)
  const parts = blocks.map((block) => {
    if (typeof block === 'string') return `<p>${escaped(block)}</p>`
    if ('items' in block) return `<ul>${block.items.map((item) => `<li>${escaped(item)}</li>`).join('')}</ul>`
    const link = escaped(block.link)
    // Shown as well, because the reader should see where it leads.
    return `<p><a href="${link}" style="${styles.button}">${escaped(block.label)}</a></p>
<p>Or open this address: <a href="${link}" style="${styles.link}">${link}</a></p>`
  })
  const link = settings === undefined ? '' : ` <a href="${escaped(settings)}">Change this setting</a>`
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(subject)}</title></head>
<body style="${styles.body}">
<div style="${styles.card}">
${parts.join('\n')}
</div>
<p style="${styles.footer}">${escaped(reason)}${link}</p>
</body>
</html>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
}

/** `28 November 2026 at 05:04 (Europe/Berlin)`. */
export function momentIn(timeZone: string, at: number): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  const words = zoned.toPlainDateTime().toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' })
  return `${words} (${timeZone})`
}
