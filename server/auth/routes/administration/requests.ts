import type { FastifyRequest } from 'fastify'
import { callerOf } from '../../../http/route.ts'
import type { ProblemCode } from '../../../problems/catalogue.ts'
import { Problem } from '../../../problems/problems.ts'
import { findUser } from '../../accounts/users/store.ts'
import type { PresentedSignIn } from '../../credentials/passkeys/store.ts'
import type { AuthParts } from '../../login.ts'

/** Accounts, service clients and roles are administered with this permission. */
export const managing = 'Accounts.Manage'

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
