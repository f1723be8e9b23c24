import { accountGuards } from './accounts.ts'
import { databaseGuards } from './database.ts'
import type { Guard } from './guard.ts'
import { orderGuards } from './orders.ts'
import { requestGuards } from './requests.ts'
import { resourceGuards } from './resources.ts'
import { sessionGuards } from './sessions.ts'
import { tokenGuards } from './tokens.ts'

export const guards: Guard[] = [
  ...orderGuards,
  ...databaseGuards,
  ...tokenGuards,
  ...sessionGuards,
  ...accountGuards,
  ...requestGuards,
  ...resourceGuards,
]
