import type { DataSourceOptions } from 'typeorm'
import { Orders1795616776705 } from './migrations/1795616776705-orders.js'
import { Order } from './order.entity.js'

/** In a schema apart from the service's tables. */
export const schema = 'nest'

export const options: DataSourceOptions = {
  type: 'postgres',
  url: process.env.DATABASE_URL,
  schema,
  entities: [Order],
  migrations: [Orders1795616776705],
  uuidExtension: 'pgcrypto',
  installExtensions: false,
}
