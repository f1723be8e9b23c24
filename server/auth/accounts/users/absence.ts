/**
 * Absences: a deputy decides in the place of someone who is away (section 15 of the contract). Each decision
 * checks the absence again (standing.ts), so an absence ends by itself.
 */
import { sql } from '#kysely'
import type { Person } from '../../../caller/principal.ts'
import type { Stamp } from '../../../caller/stamp.ts'
import { fromAbsent, holds, neededOfDeputies, requireStanding } from '../../../caller/standing.ts'
import { formatInstant } from '../../../clock.ts'
import { keptUntilCommit, withinTime } from '../../../db/engine.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { recordChange } from '../accounts.ts'
import { beginsWith } from '../query.ts'
import { lockAdministration } from '../roles/administrators.ts'
import { lockVersion } from '../store.ts'

export interface Absence {
  /** Milliseconds, like `until`. */
  from: number
  /** Exclusive. */
  until: number
  deputyId: number
}

const daysLimit = 366
const longest = daysLimit * 86_400_000
/** How many people can choose the same deputy, whose every decision may check all of them. */
const perDeputyLimit = 20

/** The absence of a person that has not ended, with the name of the deputy. */
export async function findAbsence(
  db: Db,
  principalId: number,
  nowMilliseconds: number,
): Promise<(Absence & { deputy: string }) | undefined> {
  return selectAbsences(db, nowMilliseconds)
    .where('absences.principal_id', '=', principalId)
    .executeTakeFirst()
}

/** All absences that have not ended, by the id of the absent person. */
export async function findAbsences(db: Db, nowMilliseconds: number) {
  return selectAbsences(db, nowMilliseconds)
    .innerJoin('principals as absent', 'absent.id', 'absences.principal_id')
    .select(['absent.id as id', 'absent.name as userName'])
    .orderBy('absent.id')
    .execute()
}

function selectAbsences(db: Db, nowMilliseconds: number) {
  return db
    .selectFrom('absences')
    .innerJoin('principals as deputies', 'deputies.id', 'deputy_id')
    .select(['from_at as from', 'until_at as until', 'deputy_id as deputyId', 'deputies.name as deputy'])
    .where('until_at', '>', nowMilliseconds)
}

/** For whom the account can decide now, by id. */
export async function findStandingIn(
  db: Db,
  deputyId: number,
  nowMilliseconds: number,
): Promise<(Person & { until: number })[]> {
  const { rows } = await sql<Person & { until: number }>`select principals.id, name, until_at as until
    ${fromAbsent({ byId: deputyId, nowMilliseconds }, 'Orders.Approve')} order by principals.id`.execute(db)
  return rows
}

/** Persons who could stand in for `principalId`, and whose names begin with the prefix. */
export async function findDeputies(
  snapshot: Db,
  { principalId, prefix, limit }: { principalId: number; prefix: string; limit: number },
): Promise<Person[]> {
  const { rows } = await sql<Person>`select id, name from principals
    where kind = 'user' and ${beginsWith('name_folded', prefix)} and ${withinTime(snapshot, 'id')}
    and ${canStandIn(principalId)} order by name_folded limit ${limit}`.execute(snapshot)
  return rows
}

const canStandIn = (principalId: number) =>
  sql`principals.id <> ${principalId} and kind = 'user' and enabled = 1 and ${holds(neededOfDeputies)}`

/** What is wrong with the beginning or the end: the member at fault, and the rule that it breaks. */
export function faultOfEnds({ from, until }: Pick<Absence, 'from' | 'until'>, nowMilliseconds: number) {
  const fault = (member: 'from' | 'until', code: string, detail: string) => ({ member, code, detail })
  if (until <= nowMilliseconds) return fault('until', 'past', 'must be in the future.')
  if (until <= from) return fault('until', 'order', 'must be later than from.')
  if (until - Math.max(from, nowMilliseconds) > longest) {
    return fault('until', 'range', `must be at most ${daysLimit} days after from.`)
  }
  return undefined
}

interface Input {
  person: Person
  stamp: Stamp
}

/**
 * Replaces the absence of a person. One that has begun keeps its beginning, unless it would last too long.
 * Any other beginning in the past is now. Nothing is recorded if nothing changes. Throws `not-a-deputy`,
 * `authentication-required`.
 */
export async function setAbsence(
  trx: Trx,
  { person, absence, stamp }: Input & { absence: Absence },
): Promise<{ changed: boolean }> {
  const now = stamp.nowMilliseconds
  const { until } = absence
  await lockAbsent(trx, { person, stamp })
  const kept = await findAbsence(trx, person.id, now)
  const goesOn =
    kept !== undefined && Math.max(kept.from, absence.from) <= now && until - kept.from <= longest
  const from = goesOn ? kept.from : Math.max(absence.from, now)
  const deputy = await requireDeputy(trx, person.id, absence.deputyId, now)
  await trx
    .insertInto('absences')
    .values({ principal_id: person.id, deputy_id: deputy.id, from_at: from, until_at: until })
    .onConflict((conflict) =>
      conflict.column('principal_id').doUpdateSet({ deputy_id: deputy.id, from_at: from, until_at: until }),
    )
    .execute()
  if (kept?.from === from && kept.until === until && kept.deputyId === deputy.id) return { changed: false }
  await recordChange(trx, stamp, 'absence-set', person, {
    from: formatInstant(from),
    until: formatInstant(until),
    deputy: deputy.name,
    deputyId: deputy.id,
  })
  return { changed: true }
}

/** Ends an absence, even before it begins. Throws `authentication-required`, `permission-denied`. */
export async function endAbsence(trx: Trx, { person, stamp }: Input): Promise<{ changed: boolean }> {
  await lockAbsent(trx, { person, stamp })
  const ended = await trx
    .deleteFrom('absences')
    .where('principal_id', '=', person.id)
    .where('until_at', '>', stamp.nowMilliseconds)
    .executeTakeFirst()
  const changed = ended.numDeletedRows === 1n
  if (changed) await recordChange(trx, stamp, 'absence-ended', person)
  return { changed }
}

/**
 * A person decides on their own absence, an administrator on any. The account is locked before the absence,
 * as in a decision (standing.ts), and after administration, as in every change of accounts.
 */
async function lockAbsent(trx: Trx, { person, stamp }: Input): Promise<void> {
  const isOwn = stamp.byId === person.id
  if (!isOwn) await lockAdministration(trx, stamp)
  await lockVersion(trx, 'user', person.id, null)
  if (isOwn) await requireStanding(trx, stamp)
}

async function requireDeputy(trx: Trx, principalId: number, deputyId: number, now: number): Promise<Person> {
  const { rows } = await sql<Person & { others: number }>`select id, name,
    (select count(*) from absences where deputy_id = ${deputyId} and until_at > ${now}
      and principal_id <> ${principalId}) as others
    from principals where id = ${deputyId} and ${canStandIn(principalId)} ${keptUntilCommit(trx, 'key')}`.execute(
    trx,
  )
  const [deputy] = rows
  if (deputy === undefined) throw new Problem('not-a-deputy')
  if (Number(deputy.others) >= perDeputyLimit) {
    throw new Problem('not-a-deputy', {
      detail: `${deputy.name} is already the deputy of ${perDeputyLimit} others.`,
    })
  }
  return { id: deputy.id, name: deputy.name }
}
