// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LinkifyIt } from 'linkify-it'
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

  describe('has no link but its own', () => {
    const own = 'https://orders.example.com/link'
    const finder = new LinkifyIt().set({ fuzzyLink: true, fuzzyIP: true })
    const found = (text: string) => finder.match(text)?.map(({ url }) => url) ?? []
    const textOf = (page: string) =>
      page.replace(/^.*<body/s, '<body').replaceAll(/<a href.*?<\/a>|<[^>]*>/g, ' ')

    for (const words of [
      'https://evil.example/review',
      'Acme, see https://evil.com:8443/review?y=z now',
      'http://10.0.0.1/x',
      '10.0.0.1/x',
      '//evil.com/x',
      'https:\\\\evil.com',
      'www.evil.com',
      'evil.com/review',
      'Sign in at evil.com.',
      'evil.com.orders.example.com',
      'orders.example.com@evil.com',
      'https://orders.example.com@evil.com/',
      'jo@evil.com',
      'mailto:jo@evil.com',
      'https://evil。example',
      'éviл.com',
    ]) {
      it(words, () => {
        assert.notDeepEqual(found(words), [])
        const blocks = [`Hello ${words},`, { items: [words] }, { link: own, label: 'Open' }]
        const given = { subject: 'x', blocks, reason: `Because of ${words} at orders.example.com.` }
        assert.deepEqual(found(plainText(given)), [own, 'http://orders.example.com'])
        assert.deepEqual(found(textOf(html(given))), ['http://orders.example.com'])
      })
    }

    it('and leaves other texts as they are', () => {
      const words = 'Müller & Co. KG, S.p.A. e.V. on 28.11 at 05:04 (Europe/Berlin): 1,250.50 and/or 3:1'
      const given = { subject: 'x', blocks: [words.slice(0, 60), words.slice(60)], reason: 'Because.' }
      assert.equal(plainText(given), `${words.slice(0, 60)}\n\n${words.slice(60)}\n\n-- \nBecause.\n`)
    })
  })

  it('breaks a line at a run of spaces without an empty one', () => {
    const [one, other] = ['q'.repeat(71), 'x'.repeat(72)]
    const given = { subject: 'x', blocks: [`${one}   ${other}`], reason: 'Because.' }
    assert.equal(plainText(given), `${one}\n${other}\n\n-- \nBecause.\n`)
  })

  it('loads nothing from anywhere', () => {
    assert.doesNotMatch(html(message), /<(?:img|script|link|iframe|form)|\bsrc=|url\(|@import/i)
  })
})
