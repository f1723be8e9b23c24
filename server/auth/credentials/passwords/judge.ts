import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Problem } from '../../../problems/problems.ts'
import { OneAtATime } from './one-at-a-time.ts'
import type { Passwords } from './passwords.ts'

/** How many passwords of one account, and how many accounts, may wait for the judge. */
const waitingLimit = 8
const accountsLimit = 32

/**
 * Judges each new password in a separate thread, which ends afterwards: this takes up to a second, and the
 * event loop serves others meanwhile. Judges one password at a time. Each account has one place in the queue,
 * so a caller that sends many passwords delays only itself. Throws `TooManyWaiting`.
 */
export class PasswordJudge {
  readonly #ofAccount = new OneAtATime(waitingLimit)
  readonly #ofAll = new OneAtATime(accountsLimit)

  /** Like `newPasswordFault`. The first name identifies the account. */
  faultOf(password: string, names: readonly string[]): Promise<string | undefined> {
    const [account = ''] = names
    return this.#ofAccount.run(account, () => this.#ofAll.run('', () => judgeApart({ password, names })))
  }
}

interface Candidate {
  password: string
  names: readonly string[]
}

async function judgeApart(workerData: Candidate): Promise<string | undefined> {
  const judge = new Worker(new URL('../../../judge.ts', import.meta.url), { workerData })
  const [fault] = await once(judge, 'message')
  return fault
}

/** `names` are those of the account. Throws `validation-failed` if the password breaks a rule. */
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
