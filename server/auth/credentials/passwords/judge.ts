import { Worker } from 'node:worker_threads'
import { Problem } from '../../../http/problems.ts'
import { OneAtATime } from './one-at-a-time.ts'
import type { Passwords } from './passwords.ts'

/** Passwords of one account that may wait to be judged, and accounts that may wait. */
const waitingLimit = 8
const accountsLimit = 32

/**
 * Judges new passwords in a thread of its own, which ends afterwards: it takes up to a second, in which the event loop
 * serves others. One at a time, and of each account one in the queue: who sends many waits for themself alone. Throws
 * `TooManyWaiting`.
 */
export class PasswordJudge {
  readonly #ofAccount = new OneAtATime(waitingLimit)
  readonly #ofAll = new OneAtATime(accountsLimit)

  /** As `newPasswordFault`; the first of the names is the account's own. */
  faultOf(password: string, names: readonly string[]): Promise<string | undefined> {
    const [account = ''] = names
    return this.#ofAccount.run(account, () => this.#ofAll.run('', () => judgeApart({ password, names })))
  }
}

function judgeApart(workerData: { password: string; names: readonly string[] }): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const judge = new Worker(new URL('../../../judge.ts', import.meta.url), { workerData })
    judge.once('message', resolve)
    judge.once('error', reject)
    judge.once('exit', (code) => reject(new Error(`the judge of passwords ended with ${code}`)))
  })
}

/** The hash of a new password. Throws `validation-failed` where it breaks a rule; `names` belong to the account. */
export async function hashNewPassword(
  { judge, passwords }: { judge: PasswordJudge; passwords: Passwords },
  newPassword: string,
  names: readonly string[],
): Promise<string> {
  const fault = await judge.faultOf(newPassword, names)
  if (fault === undefined) return passwords.hash(newPassword)
  const detail = `The password ${fault}.`
  throw new Problem('validation-failed', { errors: [{ pointer: '#/newPassword', code: 'password', detail }] })
}
