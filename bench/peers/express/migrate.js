import { fileURLToPath } from 'node:url'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { db, sqlite } from './database.js'

/** Makes the tables, and fills them with the orders of the service's database in ORDERS. */
migrate(db, { migrationsFolder: fileURLToPath(new URL('./drizzle', import.meta.url)) })
const columns = `id, customer, customer_folded, total_e4, status, created_at, created_at_time_zone, created_by,
  updated_at, updated_at_time_zone, modified_by, version`
sqlite.prepare('attach ? as service').run(process.env.ORDERS)
sqlite.exec(`insert into main.orders (${columns}) select ${columns} from service.orders`)
sqlite.exec('analyze main.orders')
