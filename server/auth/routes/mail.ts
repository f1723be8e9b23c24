import { stampOf } from '../../caller/stamp.ts'
import { callerOf, type Routes, route } from '../../http/route.ts'
import { findMailSettings } from '../../mail/mail.ts'
import { Problem } from '../../problems/problems.ts'
import type { AuthParts } from '../login.ts'
import { OwnMail, SetOwnMailCommand } from './schemas.ts'

/** The caller's mail about orders: which kinds, and when. */
export const ownMailRoutes: Routes<AuthParts> = {
  getOwnMail: route('GET /v1/auth/me/mail', {
    summary: 'Read what mail the caller gets',
    description: 'About orders. Mail about the security of the account is always sent.',
    access: 'person',
    problems: ['mail-unavailable'],
    response: { 200: OwnMail },
    handler: async ({ db, config }, request) => {
      if (config.smtpUrl === undefined) throw new Problem('mail-unavailable')
      const { id, timeZone } = callerOf(request)
      return { ...(await findMailSettings(db.read, id)), timeZone: timeZone ?? config.defaultTimeZone }
    },
  }),
  setOwnMail: route('PUT /v1/auth/me/mail', {
    summary: 'Set what mail the caller gets',
    description: 'About orders. Nothing is sent that the caller may not read when it is sent.',
    access: 'person',
    problems: ['mail-unavailable'],
    body: SetOwnMailCommand,
    handler: async ({ db, config, clock }, request) => {
      if (config.smtpUrl === undefined) throw new Problem('mail-unavailable')
      const stamp = stampOf(callerOf(request), clock(), null)
      const timeZone = callerOf(request).timeZone ?? config.defaultTimeZone
      await db.write('putMailSettings', { settings: request.body, timeZone, stamp })
    },
  }),
}
