import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commonPasswords, commonWords } from '../../server/auth/accounts/common-passwords.ts'
import { passwordFault } from '../../server/auth/accounts/rules.ts'
import { demoAccounts, demoClient } from '../../server/demo/demo.ts'

const names = ['jane.smith', 'jane.smith@acme-trading.example']
const faults = (passwords: readonly string[]) => passwords.map((password) => passwordFault(password, names))
const all = (passwords: readonly string[], fault: string | undefined) => passwords.map(() => fault)

describe('a new password', () => {
  it('may be any text of 15 to 256 code points', () => {
    const good = [
      'tuba lantern ocelot 7',
      'k7#Qz9!mW2$xL5v',
      'vier grüne Löwen tanzen',
      'πέντε μικρά καράβια',
      '赤い風船が三つ空へ飛んで行ったよね',
      '🦊🐢🎺🏔️🚲🍋🌵🎲🪁🧶🦀🌋🛶🪐🍩',
      '849302758392017',
      `${'lantern ocelot '.repeat(17)}x`,
      'tuba lantern ocelot 7'.padEnd(256, ' pqxz marmot'),
    ]
    assert.deepEqual(faults(good), all(good, undefined))
  })

  it('has 15 to 256 code points', () => {
    assert.deepEqual(
      faults(['', 'k7#Qz9!mW2$xL5', '🦊'.repeat(14)]),
      all(['', '', ''], 'has fewer than 15 characters'),
    )
    assert.deepEqual(faults(['tuba lantern ocelot 7'.padEnd(257, ' pqxz marmot')]), [
      'has more than 256 characters',
    ])
  })

  it('is well-formed and has no control characters', () => {
    assert.deepEqual(faults(['tuba lantern \ud800 ocelot']), ['is not well-formed Unicode'])
    const control = [
      'tuba\tlantern ocelot',
      'tuba lantern ocelot\n',
      'tuba\0lantern ocelot',
      '\ufefftuba lantern ocelot',
    ]
    assert.deepEqual(faults(control), all(control, 'contains a control character or a line break'))
  })

  it('is neither repetition nor sequence', () => {
    const few = ['aaaaaaaaaaaaaaaa', 'abababababababab', '1111111122222222']
    assert.deepEqual(faults(few), all(few, 'has fewer than 5 different characters'))
    const repeated = ['Xk9#qXk9#qXk9#q', 'tuba-tuba-tuba-tuba-', 'S3c!qS3c!qS3c!qS']
    assert.deepEqual(faults(repeated), all(repeated, 'repeats a short piece'))
    const longer = ['ocelot-ocelot-ocelot', 'k7#Qz9!mW2k7#Qz9!mW2']
    assert.deepEqual(faults(longer), all(longer, 'repeats a short piece'))
    const sequence = [
      '123456789012345',
      'abcdefghijklmnop',
      'QWERTYUIOPasdfghjkl',
      'zyxwvutsrqponml',
      '111222333444555',
    ]
    assert.deepEqual(faults(sequence), all(sequence, 'is a sequence of keys, letters or digits'))
  })

  it('is not on the list, however it is dressed up', () => {
    const common = [
      'correct horse battery staple',
      'CorrectHorse-BatteryStaple',
      'Th1s1sMyP@ssw0rd',
      'i-love-you-forever',
      '1qaz2wsx3edc4rfv',
    ]
    assert.deepEqual(faults(common), all(common, 'is on the list of common passwords'))
  })

  it('is more than names of the account and the commonest words', () => {
    const poor = [
      'jane.smith jane',
      'Acme-Trading Acme',
      'Countersign-Admin',
      'Welcome, Password!',
      'P@ssw0rd P@ssw0rd',
    ]
    assert.deepEqual(faults(poor), all(poor, 'is nothing but names and common words'))
  })

  it('is more than a common word or two, a year and a sequence', () => {
    const little = [
      'password1234567',
      'Passw0rd!Passw0rd!?',
      'P@ssword-2024!!!',
      'michael123456789',
      'Summer2024Winter2025',
      'my football 1987 !!',
      'zaq1@WSXcde3$RFV',
      'thisismypassword1',
      'qazwsxedcrfv123',
      'ilovemymom12345',
      'jane.smith12345678',
      'jennifer & jessica',
      'lantrn123456789',
    ]
    assert.deepEqual(faults(little), all(little, 'is little more than common words, years and sequences'))
    const more = [
      'tiger rainbow guitar',
      'password xk7vq2',
      'michael 84930275839',
      'my 1987 lantern ocelot',
      'sunflower over the old harbour',
      'aardvark buttress1234',
    ]
    assert.deepEqual(faults(more), all(more, undefined))
  })

  it('made at random is good', () => {
    let state = 42
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
    const made = Array.from({ length: 2_000 }, () =>
      Array.from({ length: 15 }, () => alphabet[next(alphabet.length)]).join(''),
    )
    assert.deepEqual(faults(made), all(made, undefined))
  })

  it('is never one of the published ones', () => {
    const published = [...demoAccounts.map(({ password }) => password), demoClient.clientSecret]
    assert.deepEqual(faults(published), all(published, 'is on the list of common passwords'))
  })
})

describe('the list of common passwords', () => {
  it('is in the form in which it is compared', () => {
    assert.equal(commonPasswords.size > 200, true)
    assert.deepEqual(
      [...commonPasswords].filter((entry) => !/^[a-z0-9]{8,}$/.test(entry)),
      [],
    )
    assert.equal(commonWords.length > 800, true)
    assert.equal(new Set(commonWords).size, commonWords.length)
    assert.deepEqual(
      commonWords.filter((entry) => !/^[a-z]{2,}$/.test(entry)),
      [],
    )
  })
})
