import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { desc, eq, like } from 'drizzle-orm'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import helmet from 'helmet'
import { jwtVerify } from 'jose'
import morgan from 'morgan'
import { z } from 'zod'
import { db } from './database.js'
import { orders } from './schema.js'

const publicKey = createPublicKey(readFileSync(process.env.SIGNING_KEY_FILES))

const app = express()
app.get('/health', (_request, response) => response.json({ status: 'ok' }))
app.use(helmet())
app.use(morgan('combined'))
app.use(rateLimit({ windowMs: 60_000, limit: 1_000_000_000, standardHeaders: 'draft-8', legacyHeaders: false }))
app.use(express.json({ limit: '64kb' }))
app.use(async (request, response, next) => {
  const token = request.get('authorization')?.replace(/^Bearer /, '')
  try {
    const { payload } = await jwtVerify(token ?? '', publicKey, { issuer: process.env.PUBLIC_URL })
    request.user = payload
    next()
  } catch {
    response.status(401).json({ error: 'unauthorized' })
  }
})

const listQuery = z.object({
  pageNumber: z.coerce.number().int().min(1).default(1),
  pageSize: z.coerce.number().int().min(1).max(100).default(10),
  filter: z.string().optional(),
})
const newOrder = z.object({ customer: z.string().trim().min(1).max(200), total: z.number().positive() })

app.get('/v1/orders', async (request, response) => {
  const { pageNumber, pageSize, filter } = listQuery.parse(request.query)
  const matches = filter === undefined ? undefined : like(orders.customerFolded, `%${filter.toLowerCase()}%`)
  const [items, totalCount] = await Promise.all([
    db
      .select()
      .from(orders)
      .where(matches)
      .orderBy(desc(orders.createdAt))
      .limit(pageSize)
      .offset((pageNumber - 1) * pageSize),
    db.$count(orders, matches),
  ])
  const totalPages = Math.ceil(totalCount / pageSize)
  response.json({ items: items.map(toSummary), pageNumber, totalPages, totalCount })
})

app.get('/v1/orders/:id', async (request, response) => {
  const [order] = await db.select().from(orders).where(eq(orders.id, request.params.id))
  if (order === undefined) return response.status(404).json({ error: 'not found' })
  response.json({
    ...toSummary(order),
    createdAtTimeZone: order.createdAtTimeZone,
    updatedAtUtc: order.updatedAt,
    updatedAtTimeZone: order.updatedAtTimeZone,
    createdBy: order.createdBy,
    modifiedBy: order.modifiedBy,
  })
})

app.post('/v1/orders', async (request, response) => {
  const { customer, total } = newOrder.parse(request.body)
  const [{ id }] = await db
    .insert(orders)
    .values({
      customer,
      customerFolded: customer.toLowerCase(),
      totalE4: Math.round(total * 10_000),
      createdAtTimeZone: 'UTC',
      createdBy: request.user.preferred_username,
    })
    .returning({ id: orders.id })
  response.status(201).location(`/v1/orders/${id}`).json({ id })
})

app.use((error, _request, response, _next) => {
  response.status(error instanceof z.ZodError ? 400 : 500).json({ error: 'failed' })
})

function toSummary(order) {
  const { id, customer, totalE4, status, createdAt } = order
  return { id, customer, total: totalE4 / 10_000, status, createdAtUtc: createdAt }
}

app.listen(Number(process.env.PORT), '127.0.0.1')
