// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { html, type Message, plainText } from '../../server/mail/message.ts'

const message: Message = {
  subject: 'Two <orders> & more',
  blocks: [
    'Hello jo,',
    'two orders wait for you, and this sentence is long enough to need another line of the plain text.',
    { items: ['Acme <b>', `${'word '.repeat(20)}end`] },
    { link: `https://orders.example.com/link#token=${'t'.repeat(90)}&email=a%40b.c`, label: 'Open "it"' },
  ],
  reason: 'You get this mail because you asked for it.',
  settings: 'https://orders.example.com/account#mail',
}

describe('a message', () => {
  it('is plain text of at most 72 columns, except for links', () => {
    const text = plainText(message)
    assert.equal(
      text,
      `Hello jo,

two orders wait for you, and this sentence is long enough to need
another line of the plain text.

- Acme <b>
- word word word word word word word word word word word word word word
  word word word word word word end

Open "it":
https://orders.example.com/link#token=${'t'.repeat(90)}&email=a%40b.c

-- 
You get this mail because you asked for it.
https://orders.example.com/account#mail
`,
    )
  })

  it('says the same in HTML, where every text is escaped', () => {
    const page = html(message)
    assert.match(page, /<title>Two &lt;orders&gt; &amp; more<\/title>/)
    assert.match(page, /<li>Acme &lt;b&gt;<\/li>/)
    assert.match(page, /href="https:\/\/orders\.example\.com\/link#token=t{90}&amp;email=a%40b\.c"/)
    assert.match(page, />Open &quot;it&quot;<\/a>/)
    const words = (text: string) => text.match(/[a-z]{2,}/gi)?.filter((word) => word !== 'word').length ?? 0
    const shown = page.replace(/^.*<body/s, '<body').replaceAll(/<[^>]*>/g, ' ')
    assert.ok(words(shown) >= words(plainText(message)))
  })

  it('loads nothing from anywhere', () => {
    assert.doesNotMatch(html(message), /<(?:img|script|link|iframe|form)|\bsrc=|url\(|@import/i)
  })
})
