import { schema as postgresSchema } from '../../server/db/postgres/schema.ts'
import { schema as sqliteSchema } from '../../server/db/sqlite/schema.ts'
import { laterColumn } from './later-release.ts'

// The program is a later release, which has one more migration. LATER_READERS is the oldest release that
// serves its databases.
for (const { migrations } of [postgresSchema, sqliteSchema]) {
  migrations['0002-later'] = laterColumn(process.env.LATER_READERS ?? '')
}
