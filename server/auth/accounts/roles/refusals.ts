import { Problem } from '../../../http/problems.ts'
import type { Refusal } from './refusal.ts'

/** The answer of an operation. Throws the problem that its refusal is to a caller. */
export function accepted<Result extends object>(result: Result | Refusal): Result {
  if ('refused' in result) throw problemOf(result)
  return result
}

function problemOf(refusal: Refusal): Problem {
  switch (refusal.refused) {
    case 'no-such-user':
      return new Problem('user-not-found')
    case 'no-such-client':
      return new Problem('client-not-found')
    case 'role-taken':
      return new Problem('name-taken')
    case 'role-held':
      return new Problem('role-held', { members: { accounts: refusal.accounts } })
    case 'unknown-role':
      return new Problem('unknown-role', { detail: `There is no role ${refusal.unknown.join(', ')}.` })
    default:
      return new Problem(refusal.refused)
  }
}
