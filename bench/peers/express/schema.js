import { randomUUID } from 'node:crypto'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const orders = sqliteTable(
  'orders',
  {
    id: text().primaryKey().$defaultFn(randomUUID),
    customer: text().notNull(),
    customerFolded: text('customer_folded').notNull(),
    totalE4: integer('total_e4').notNull(),
    status: integer().notNull().default(0),
    createdAt: integer('created_at', { mode: 'timestamp_ms' })
      .notNull()
      .$defaultFn(() => new Date()),
    createdAtTimeZone: text('created_at_time_zone'),
    createdBy: text('created_by'),
    updatedAt: integer('updated_at', { mode: 'timestamp_ms' }),
    updatedAtTimeZone: text('updated_at_time_zone'),
    modifiedBy: text('modified_by'),
    version: integer().notNull().default(1),
  },
  (table) => [
    index('orders_created_at_idx').on(table.createdAt),
    index('orders_customer_folded_idx').on(table.customerFolded),
  ],
)
