import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { browserOf } from '../../../web/src/auth/user-agent.ts'

const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const appleWebKit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

describe('the name of a user agent', () => {
  for (const [userAgent, name] of [
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/153.0.0.0 Safari/537.36`,
      'Chrome on Windows',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/153.0.0.0 Safari/537.36 Edg/153.0.0.0`,
      'Edge on Windows',
    ],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/153.0.0.0 Mobile Safari/537.36`,
      'Chrome on Android',
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${appleWebKit} Version/19.0 Safari/605.1.15`,
      'Safari on Mac',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${appleWebKit} FxiOS/150.0 Mobile/15E148 Safari/605.1.15`,
      'Firefox on iPhone',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0', 'Firefox on Linux'],
  ] as const) {
    it(`is ${name}`, () => assert.equal(browserOf(userAgent), name))
  }

  for (const userAgent of ['', 'curl/8.11.0', 'Linux', 'okhttp/4.12.0', 'Chrome/']) {
    it(`is unknown if it names no browser or system: "${userAgent}"`, () =>
      assert.equal(browserOf(userAgent), undefined))
  }
})
