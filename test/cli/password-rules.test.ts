import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { passwordFault } from '../../server/auth/account-rules.ts'
import { commonPasswords } from '../../server/auth/common-passwords.ts'
import { demoAccounts, demoClient } from '../../server/seed.ts'

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
  })
})
