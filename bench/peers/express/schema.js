import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const orders = sqliteTable('orders', {
  id: text().primaryKey(),
  customer: text().notNull(),
  customerFolded: text('customer_folded').notNull(),
  totalE4: integer('total_e4').notNull(),
  status: integer().notNull(),
  createdAt: integer('created_at', { mode: 'timestamp_ms' }).notNull(),
  createdAtTimeZone: text('created_at_time_zone'),
  createdBy: text('created_by'),
  updatedAt: integer('updated_at', { mode: 'timestamp_ms' }),
  updatedAtTimeZone: text('updated_at_time_zone'),
  modifiedBy: text('modified_by'),
  version: integer().notNull(),
})
