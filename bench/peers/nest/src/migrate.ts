import { DataSource } from 'typeorm'
import { options, schema } from './data-source.js'

/** Makes the tables, and fills them with the orders of the service's table in the same database. */
const database = await new DataSource(options).initialize()
await database.createQueryRunner().createSchema(schema, true)
await database.runMigrations()
await database.query(`insert into nest.orders
  select id, customer, customer_folded, total_e4, status, to_timestamp(created_at / 1000.0), created_at_time_zone,
    created_by, to_timestamp(updated_at / 1000.0), updated_at_time_zone, modified_by, version
  from public.orders`)
await database.query('vacuum analyze nest.orders')
await database.destroy()
