/** All HTTP of the slice (sections 4 and 17 of the contract). Every handler runs behind the guard. */
import type { App } from '../../http/route.ts'
import type { AuthParts } from '../login.ts'
import { registerClients } from './administration/clients.ts'
import { registerRoles } from './administration/roles.ts'
import { registerUsers } from './administration/users.ts'
import { registerLinks } from './links.ts'
import { registerSessions } from './sessions.ts'
import { registerSignIns } from './sign-ins.ts'
import { registerTokens } from './tokens.ts'

export function registerAuth(app: App, parts: AuthParts): void {
  registerSessions(app, parts)
  registerTokens(app, parts)
  registerLinks(app, parts)
  registerSignIns(app, parts)
  registerUsers(app, parts)
  registerClients(app, parts)
  registerRoles(app, parts)
}
