import type { App } from '../http/route.ts'
import type { AuthParts } from './login.ts'
import { registerSessionRoutes } from './session/routes.ts'
import { registerTokenRoutes } from './tokens/routes.ts'

export function registerAuth(app: App, parts: AuthParts): void {
  registerSessionRoutes(app, parts)
  registerTokenRoutes(app, parts)
}
