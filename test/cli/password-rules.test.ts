// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { newPasswordFault } from '../../rules/new-password.ts'
import { demoAccounts, demoClient } from '../../server/demo/demo.ts'

const names = ['jane.smith', 'jane.smith@acme-trading.example']
const faults = (passwords: readonly string[]) =>
  Promise.all(passwords.map((password) => newPasswordFault(password, names)))
const guessable = 'is common, or little more than common words, names, dates and sequences'
const all = (passwords: readonly string[], fault: string | undefined) => passwords.map(() => fault)

describe('a new password', () => {
  const words = 'tuba lantern ocelot 7'

  it('may be any text of 15 to 256 code points', async () => {
    const good = [
      words,
      'k7#Qz9!mW2$xL5v',
      'vier grüne Löwen tanzen',
      'πέντε μικρά καράβια',
      '赤い風船が三つ空へ飛んで行ったよね',
      '🦊🐢🎺🏔️🚲🍋🌵🎲🪁🧶🦀🌋🛶🪐🍩',
      '849302758392017',
      `${'lantern ocelot '.repeat(17)}x`,
      words.padEnd(256, ' pqxz marmot'),
    ]
    assert.deepEqual(await faults(good), all(good, undefined))
  })

  for (const [fault, passwords] of Object.entries({
    'has fewer than 15 characters': ['', 'k7#Qz9!mW2$xL5', '🦊'.repeat(14)],
    'has more than 256 characters': [words.padEnd(257, ' pqxz marmot')],
    'is not well-formed Unicode': ['tuba lantern \ud800 ocelot'],
    'contains a control character or a line break': ['\ufefftuba lantern ocelot'].concat(
      ['\t', '\n', '\0', '\u2028'].map((character) => `tuba${character}lantern ocelot`),
    ),
  })) {
    it(`is refused if it ${fault}`, async () => {
      assert.deepEqual(await faults(passwords), all(passwords, fault))
    })
  }

  describe('is refused if it is easy to guess:', () => {
    const poor = {
      'a repetition':
        'aaaaaaaaaaaaaaaa/1111111122222222/Xk9#qXk9#qXk9#q/tuba-tuba-tuba-tuba-/ocelot-ocelot-ocelot',
      'a sequence': '123456789012345/abcdefghijklmnop/QWERTYUIOPasdfghjkl/1qaz2wsx3edc4rfv',
      'a common one, however it is dressed up':
        'CorrectHorse-BatteryStaple/Th1s1sMyP@ssw0rd/P@ssword-2024!!!/Welcome, Password!/P@ssw0rd P@ssw0rd',
      'names of the account': 'jane.smith jane/Acme-Trading Acme/jane.smith12345678',
      'the name of the service': 'Countersign-Admin/countersign countersign',
      'a common word or two, and a year or a sequence':
        'password1234567/michael123456789/jennifer & jessica/my football 1987 !!/thisismypassword1',
    }
    for (const [what, line] of Object.entries(poor)) {
      it(what, async () => {
        const passwords = line.split('/')
        assert.deepEqual(await faults(passwords), all(passwords, guessable))
      })
    }
  })

  it('is accepted with uncommon words, whatever surrounds them', async () => {
    const more = [
      'michael 84930275839',
      'my 1987 lantern ocelot',
      'sunflower over the old harbour',
      'aardvark buttress1234',
    ]
    assert.deepEqual(await faults(more), all(more, undefined))
  })

  it('is accepted if made at random', async () => {
    const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
    const anyOfIt = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 15, maxLength: 15 })
    const made = fc.sample(anyOfIt, { numRuns: 40, seed: 42 })
    assert.deepEqual(await faults(made), all(made, undefined))
  })

  it('is refused if it is a published one', async () => {
    const published = [...demoAccounts.map(({ password }) => password), demoClient.clientSecret]
    assert.deepEqual(await faults(published), all(published, guessable))
  })
})
