import { type Guard, inFile } from './guard.ts'

const throttle = inFile('server/auth/throttle/throttle.ts')
const tries = inFile('server/auth/throttle/store.ts')
const passwords = inFile('server/auth/passwords.ts')
const rules = inFile('server/auth/accounts/rules.ts')
const login = inFile('server/auth/login.ts')

const waits = ['test/auth/login-throttle.test.ts']
const hashes = ['test/auth/passwords.test.ts']
const newPasswords = ['test/cli/password-rules.test.ts']
const services = ['test/auth/issueServiceToken.test.ts']

/** Passwords, secrets, and guesses at them. */
export const accountGuards: Guard[] = [
  throttle(
    'throttle-reserved-first',
    'a password is checked though its caller has to wait',
    waits,
    `      await this.#db.write('reserveLoginTry', reserved)\n      const result = await check()`,
    `      const early = check()\n      await this.#db.write('reserveLoginTry', reserved)\n      const result = await early`,
  ),
  tries(
    'throttle-wait',
    'failed sign-ins make nobody wait',
    waits,
    '  if (failures < freeTries) return 0\n',
    '  if (failures >= 0) return 0\n',
  ),
  tries(
    'throttle-blocked',
    'who has to wait may try',
    waits,
    `eb('login_failures.blocked_until', '<=', now),`,
    `eb('login_failures.blocked_until', '>=', 0),`,
  ),
  tries(
    'throttle-account',
    'many addresses guess at one account',
    waits,
    '  await reserve(trx, input.accountKey, nowMilliseconds, accountFreeTries, accountWaitLimitMilliseconds)\n',
  ),
  tries(
    'throttle-pair',
    'one address guesses at one account',
    waits,
    '  await reserve(trx, input.pairKey, nowMilliseconds, pairFreeTries, pairWaitLimitMilliseconds)\n',
  ),
  passwords(
    'nobodys-hash',
    'a sign-in tells by its time whether the user exists',
    hashes,
    '$argon2id$v=19$m=19456,t=2,p=1$',
    '$argon2id$v=19$m=1024,t=1,p=1$',
  ),
  passwords(
    'nobodys-work',
    'for an unknown user no password is hashed',
    hashes,
    'const matches = await verify(',
    'const matches = passwordHash !== undefined && await verify(',
  ),
  passwords(
    'argon2-cost',
    'a stolen hash is guessed at cheaply',
    hashes,
    'memoryCost: 19 * 1024',
    'memoryCost: 1024',
  ),
  passwords(
    'argon2-queue',
    'sign-ins pile up without end',
    hashes,
    'if (this.#queue.length >= queueLimit) throw',
    'if (this.#queue.length >= 1_000_000) throw',
  ),
  login(
    'disabled-login',
    'the right password of a disabled account counts for a success',
    waits,
    'return matches && found?.enabled ? found : undefined',
    'return matches ? found : undefined',
  ),
  login(
    'client-secret',
    'any secret is the right one',
    services,
    'client?.enabled && matches',
    'client?.enabled',
  ),
  login(
    'disabled-client',
    'a disabled service gets a token',
    services,
    'client?.enabled && matches',
    'client && matches',
  ),
  rules(
    'password-minimum',
    'a new password is short',
    newPasswords,
    'if (characters.length < passwordMinimum) return',
    'if (characters.length < 1) return',
  ),
  rules(
    'password-maximum',
    'a new password is longer than a sign-in takes',
    newPasswords,
    'if (characters.length > passwordMaximum) return',
    'if (characters.length > 1_000_000) return',
  ),
  rules(
    'password-common',
    'a new password is one that everybody tries',
    newPasswords,
    'if (compact.some((form) => commonPasswords.has(form))) return',
    'if (compact.some((form) => commonPasswords.has(form) && form === password)) return',
  ),
  inFile('server/auth/schemas.ts')(
    'password-length-sent',
    'a sign-in hashes as much as it is sent',
    ['test/auth/loginSession.test.ts'],
    'const password = textField(1, 256,',
    'const password = textField(1, 60_000,',
  ),
]
