import type { App } from '../../http/route.ts'
import { registerClients } from './clients/routes.ts'
import type { AdministrationParts } from './requests.ts'
import { registerRoles } from './roles/routes.ts'
import { registerUserSessions } from './sessions/routes.ts'
import { registerUsers } from './users/routes.ts'

/** Users, service clients and roles (section 17 of the contract). */
export function registerAdministration(app: App, parts: AdministrationParts): void {
  registerUsers(app, parts)
  registerUserSessions(app, parts)
  registerClients(app, parts)
  registerRoles(app, parts)
}
