import { Worker } from 'node:worker_threads'
import { Problem, retryAfter } from '../http/problems.ts'
import type { Passwords } from './passwords.ts'

/** Passwords that may wait to be judged. */
const waitingLimit = 8

/**
 * Judges new passwords in a thread of its own, which ends afterwards: it takes up to a second, in which the event loop
 * serves others. One at a time. Throws `overloaded` when too many wait.
 */
export class PasswordJudge {
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  /** As `newPasswordFault`. */
  async faultOf(password: string, names: readonly string[]): Promise<string | undefined> {
    if (this.#waiting >= waitingLimit) throw new Problem('overloaded', { headers: retryAfter(2_000) })
    this.#waiting += 1
    const judged = this.#last.then(() => judgeApart({ password, names }))
    this.#last = judged.catch(() => undefined)
    try {
      return await judged
    } finally {
      this.#waiting -= 1
    }
  }
}

function judgeApart(workerData: { password: string; names: readonly string[] }): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const judge = new Worker(new URL('../judge.ts', import.meta.url), { workerData })
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
