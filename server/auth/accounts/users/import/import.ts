/** Adds users many at a time: each batch is one transaction, and each user in it leaves an event. */
import type { Transaction } from '#kysely'
import { eventRow, recordEvents, type Stamp } from '../../../../audit/audit.ts'
import type { Database } from '../../../../db/tables.ts'
import { lockAdministration } from '../../roles/administrators.ts'
import { requireRoles } from '../../roles/roles.ts'
import { linkEnd } from '../links.ts'
import { type ImportedUser, insertAll, lockWithoutPassword, type NewLink, replaceLinks } from './store.ts'

/** `eventId` is the id of this user's event. */
type WithEvent<T> = T & { eventId: string }

/** Throws `unknown-role`, and `name-taken` or `email-taken` if any name or email is taken. */
export async function addUsers(
  trx: Transaction<Database>,
  { users, stamp }: { users: WithEvent<ImportedUser>[]; stamp: Stamp },
): Promise<void> {
  await lockAdministration(trx, stamp)
  await requireRoles(trx, [...new Set(users.flatMap(({ roles }) => roles))])
  const ids = await insertAll(trx, users, stamp.nowMilliseconds)
  await recordEvents(
    trx,
    users.map(({ eventId, userName: name, roles }, index) =>
      eventRow(
        { ...stamp, eventId },
        { kind: 'user-added', subject: subjectOf(ids[index]), data: { name, roles } },
      ),
    ),
  )
}

/**
 * Makes a link, as `makeLink` does, for each enabled user without a password. Returns their emails.
 */
export async function makeLinks(
  trx: Transaction<Database>,
  { links, stamp }: { links: WithEvent<NewLink>[]; stamp: Stamp },
): Promise<string[]> {
  await lockAdministration(trx, stamp)
  const byEmail = new Map(links.map((link) => [link.email, link]))
  const made = (await lockWithoutPassword(trx, [...byEmail.keys()])).flatMap((user) => {
    const link = byEmail.get(user.email)
    return link === undefined ? [] : [{ ...user, ...link }]
  })
  await replaceLinks(trx, made, { madeBy: stamp.by, expiresAt: linkEnd(stamp.nowMilliseconds) })
  await recordEvents(
    trx,
    made.map(({ id, name, eventId }) =>
      eventRow({ ...stamp, eventId }, { kind: 'link-made', subject: subjectOf(id), data: { name } }),
    ),
  )
  return made.map(({ email }) => email)
}

const subjectOf = (id: number | undefined) => ({ kind: 'account', id: String(id) }) as const
