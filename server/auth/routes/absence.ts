import type { FastifyRequest } from 'fastify'
import { formatInstant, formatInstantOrNull } from '../../clock.ts'
import { pageLimitMilliseconds } from '../../db/port.ts'
import { ending, readStamp } from '../../http/resource.ts'
import { callerOf, type Routes, route } from '../../http/route.ts'
import { Problem } from '../../problems/problems.ts'
import { foldName } from '../accounts/store.ts'
import { faultOfEnds, findAbsence, findStandingIn } from '../accounts/users/absence.ts'
import { findUser } from '../accounts/users/store.ts'
import type { AuthParts } from '../login.ts'
import { idParameter, managing, requireId } from './administration/requests.ts'
import { Absence, Deputies, DeputiesQuery, SetAbsenceCommand } from './schemas.ts'

const deputiesShown = 20

/** The caller's own absence, and for whom the caller stands in. */
export const absenceRoutes: Routes<AuthParts> = {
  getAbsence: route('GET /v1/auth/absence', {
    summary: "Read the caller's absence",
    description: 'Also lists the people whom the caller stands in for now.',
    access: 'person',
    response: { 200: Absence },
    handler: (parts, request) => absenceOf(parts, callerOf(request).id),
  }),
  setAbsence: route('PUT /v1/auth/absence', {
    summary: "Set or change the caller's absence",
    description:
      'From `from` to `until` the deputy can approve and reject in the place of the caller, who can still decide. A person has at most one absence, and it ends by itself.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['not-a-deputy'],
    body: SetAbsenceCommand,
    handler: async (parts, request) => {
      const stamp = readStamp(request, parts)
      const fault = faultOfEnds(request.body, stamp.nowMilliseconds)
      if (fault !== undefined) {
        const { member, code, detail } = fault
        const errors = [{ pointer: `#/${member}`, code, detail: `${member} ${detail}` }]
        throw new Problem('validation-failed', { errors })
      }
      await parts.db.write('setAbsence', { person: own(request), absence: request.body, stamp })
    },
  }),
  endAbsence: route('DELETE /v1/auth/absence', {
    summary: "End the caller's absence",
    description: 'Ends it at once, even before it begins. Nothing happens if there is none.',
    access: 'person',
    handler: async (parts, request) => {
      await parts.db.write('endAbsence', { person: own(request), stamp: readStamp(request, parts) })
    },
  }),
  listDeputies: route('GET /v1/auth/absence/deputies', {
    summary: 'List who could be a deputy',
    description: `Enabled users who may read orders, by name: the first ${deputiesShown} whose names begin with \`filter\`.`,
    access: 'person',
    problems: ['overloaded', 'filter-too-expensive'],
    querystring: DeputiesQuery,
    response: { 200: Deputies },
    handler: async ({ db }, request) => {
      const { id: principalId } = callerOf(request)
      const wanted = { principalId, prefix: foldName(request.query.filter ?? ''), limit: deputiesShown }
      const options = { limitMilliseconds: pageLimitMilliseconds, caller: String(principalId) }
      return { items: await db.query('findDeputies', wanted, options) }
    },
  }),
}

/** For administrators: the absence of any user. */
export const userAbsenceRoutes: Routes<AuthParts> = {
  getUserAbsence: route('GET /v1/users/:id/absence', {
    summary: 'Read the absence of a user',
    description: 'Also lists the people whom the user stands in for now.',
    access: managing,
    problems: ['user-not-found'],
    parameters: idParameter,
    response: { 200: Absence },
    handler: async (parts, request) => absenceOf(parts, (await requireUser(parts, request)).id),
  }),
  endUserAbsence: ending('/v1/users/:id/absence', {
    summary: 'End the absence of a user',
    description: 'Ends it at once, even before it begins. Nothing happens if there is none.',
    access: managing,
    problems: ['user-not-found'],
    parameters: idParameter,
    end: async (parts, request, stamp) =>
      parts.db.write('endAbsence', { person: await requireUser(parts, request), stamp }),
  }),
}

async function absenceOf({ db, clock }: AuthParts, principalId: number) {
  const now = clock()
  const absence = await findAbsence(db.read, principalId, now)
  const standingIn = await findStandingIn(db.read, principalId, now)
  return {
    from: formatInstantOrNull(absence?.from ?? null),
    until: formatInstantOrNull(absence?.until ?? null),
    deputyId: absence?.deputyId ?? null,
    deputy: absence?.deputy ?? null,
    standingInFor: standingIn.map(({ until, ...person }) => ({ ...person, until: formatInstant(until) })),
  }
}

function own(request: FastifyRequest) {
  const { id, userName: name } = callerOf(request)
  return { id, name }
}

async function requireUser({ db }: AuthParts, request: FastifyRequest) {
  const user = await findUser(db.read, requireId(request, 'user-not-found'))
  if (user === undefined) throw new Problem('user-not-found')
  return { id: user.id, name: user.userName }
}
