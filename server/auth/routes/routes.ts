/** All HTTP of the slice (sections 4 and 17 of the contract). Every handler runs behind the guard. */
import { type App, register } from '../../http/route.ts'
import type { AuthParts } from '../login.ts'
import { absenceRoutes, userAbsenceRoutes } from './absence.ts'
import { clientRoutes } from './administration/clients.ts'
import { roleRoutes } from './administration/roles.ts'
import { userRoutes } from './administration/users.ts'
import { companyRoutes } from './company/routes.ts'
import { linkRoutes } from './links.ts'
import { ownMailRoutes } from './mail.ts'
import { passkeyRoutes, userPasskeyRoutes } from './passkeys/routes.ts'
import { sessionRoutes } from './sessions.ts'
import { ownRoutes, signInRoutes } from './sign-ins.ts'
import { tokenRoutes } from './tokens.ts'

export function registerAuth(app: App, parts: AuthParts): void {
  register(
    app,
    'Authentication',
    { ...sessionRoutes, ...tokenRoutes, ...linkRoutes, ...companyRoutes },
    parts,
  )
  register(app, 'Own account', { ...ownRoutes, ...passkeyRoutes, ...absenceRoutes, ...ownMailRoutes }, parts)
  register(
    app,
    'Administration',
    {
      ...signInRoutes,
      ...userRoutes,
      ...userPasskeyRoutes,
      ...userAbsenceRoutes,
      ...clientRoutes,
      ...roleRoutes,
    },
    parts,
  )
}
