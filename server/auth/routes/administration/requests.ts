import type { FastifyRequest } from 'fastify'
import { stampOf } from '../../../caller/stamp.ts'
import { callerOf } from '../../../http/route.ts'
import type { ProblemCode } from '../../../problems/catalogue.ts'
import { Problem } from '../../../problems/problems.ts'
import { findUser } from '../../accounts/users/store.ts'
import type { PresentedSignIn } from '../../credentials/passkeys/store.ts'
import type { AuthParts } from '../../login.ts'

/** Every change needs a person with the permission who gave their password in the last five minutes. */
export const changing = { access: 'Accounts.Manage', needsRecentSignIn: true } as const

export const idParameter = {
  id: {
    description: 'Id of the account. A malformed id gets the same answer as an unknown one.',
    schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
    example: 2,
  },
}

/** The id in the path. Throws `unknown` if it is malformed. */
export function requireId(request: FastifyRequest, unknown: ProblemCode): number {
  const { id } = request.params as { id: string }
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : 0
  if (number < 1 || number > 2_147_483_647) throw new Problem(unknown)
  return number
}

/** The id in the path, if a user has it. Throws `user-not-found`. */
export async function requireUserId(request: FastifyRequest, { db }: AuthParts): Promise<number> {
  const id = requireId(request, 'user-not-found')
  if ((await findUser(db.read, id)) === undefined) throw new Problem('user-not-found')
  return id
}

/** The sign-in that the request presented. Throws `authentication-required` for a service. */
export function presentedSignIn(request: FastifyRequest): PresentedSignIn {
  const { signIn, session } = callerOf(request)
  if (signIn === null) throw new Problem('authentication-required')
  return { id: signIn.id, idHash: session?.presentedIdHash ?? null }
}

/** For answers that hold a secret. */
export const shownOnce = { 'cache-control': 'no-store' }

export function readStamp(request: FastifyRequest, { config, clock }: AuthParts) {
  const caller = callerOf(request)
  return stampOf(caller, clock(), caller.timeZone ?? config.defaultTimeZone)
}
