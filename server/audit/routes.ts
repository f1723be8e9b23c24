import type { Clock } from '../clock.ts'
import type { AppDatabase } from '../db/port.ts'
import { acceptedExport, type Exports } from '../http/export.ts'
import { linkHeader, pageLinks, pageRequest, sendJson } from '../http/paging.ts'
import { Problem } from '../http/problems.ts'
import { type App, callerOf } from '../http/route.ts'
import { exportLog, type LogQuery, listLog } from './log.ts'
import { ListLogQuery, LogCheckpoint, PaginatedListOfLogEvent } from './schemas.ts'
import { type StatementKeys, signCheckpoint } from './statements.ts'
import { headOfLog } from './store.ts'

export interface LogParts {
  db: AppDatabase
  clock: Clock
  exports: Exports
  keys: StatementKeys
  publicUrl: () => string
}

const tags = ['Log']
const exportTypes = ['application/jsonl'] as const

export function registerLog(app: App, parts: LogParts): void {
  registerListLog(app, parts)
  registerCheckpoint(app, parts)
}

function registerListLog(app: App, { db, exports }: LogParts): void {
  app.route({
    method: 'GET',
    url: '/v1/log',
    config: {
      access: 'Log.Read',
      problems: ['overloaded', 'export-running', 'filter-too-expensive'],
      exports: exportTypes,
      responseHeaders: { 200: [linkHeader] },
    },
    schema: {
      operationId: 'listLog',
      summary: 'The log of all changes',
      description:
        'Every sealed event, by sequence, or only those that match every one of `subject`, `kind`, `by`, `from` and `until` that is given. With `Accept: application/jsonl` it is an export: every event after `after`, one JSON text a line, as a stream. An export has no filter, for the hash of an event binds it to the one before it.',
      tags,
      querystring: ListLogQuery,
      response: { 200: PaginatedListOfLogEvent },
    },
    handler: async (request, reply) => {
      const { after = 0, order: direction = 'asc', pageNumber, pageSize, ...filter } = request.query
      const caller = String(callerOf(request).id)
      const type = acceptedExport(request, exportTypes)
      if (type !== undefined) {
        refuseFilter(filter)
        return exports.send(request, reply, { type, fileName: 'log', batches: exportLog(db, after, caller) })
      }
      const page = pageRequest(pageNumber, pageSize)
      const { json, description } = await listLog(db, { after, direction, page, filter }, caller)
      reply.headers(pageLinks('/v1/log', request.raw.url, ListLogQuery, description))
      return sendJson(reply, json)
    },
  })
}

/** What is left out would break the chain: better no file than one that cannot be verified. */
function refuseFilter(filter: LogQuery['filter']): void {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  if (given.length === 0) return
  const errors = given.map(([parameter]) => ({
    parameter,
    code: 'conflict',
    detail: `${parameter} cannot be given for an export, which has every event.`,
  }))
  throw new Problem('validation-failed', { errors })
}

function registerCheckpoint(app: App, { db, clock, keys, publicUrl }: LogParts): void {
  app.route({
    method: 'GET',
    url: '/v1/log/checkpoint',
    config: { access: 'Log.Read' },
    schema: {
      operationId: 'getLogCheckpoint',
      summary: 'A signed statement of how far the log goes',
      description: 'Keep it where the operator of the service cannot reach: docs/auditing.md says why.',
      tags,
      response: { 200: LogCheckpoint },
    },
    handler: async () => {
      const head = await headOfLog(db.read)
      return { checkpoint: await signCheckpoint(keys, publicUrl(), head, clock()) }
    },
  })
}
