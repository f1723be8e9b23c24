import { acceptedForm, type Exports } from '../http/export.ts'
import { linkHeader, pageLinks, pageRequest, sendJson, sendText } from '../http/paging.ts'
import { type App, callerOf, type Routes, register, route } from '../http/route.ts'
import { Problem } from '../problems/problems.ts'
import { originOf, publishedKeys } from './checkpoints/checkpoints.ts'
import { cosignedOver, newestCheckpoint, proofOf, type ServedParts } from './checkpoints/proof.ts'
import { exportLog, type LogQuery, listLog } from './lines/log.ts'
import { headOfLog } from './lines/store.ts'
import {
  GetLogCheckpointQuery,
  GetLogProofQuery,
  ListLogQuery,
  LogCheckpoint,
  LogKeySet,
  LogProof,
  PaginatedListOfLogEvent,
} from './schemas.ts'

export interface LogParts extends ServedParts {
  exports: Exports
}

const exportTypes = ['application/jsonl'] as const

const logRoutes: Routes<LogParts> = {
  listLog: route('GET /v1/log', {
    summary: 'List the log of all changes',
    description:
      'Every sealed event in the order of the log. `subject`, `kind`, `by`, `from` and `until` restrict the events; all that are given must match. With `Accept: application/jsonl` the answer is an export: every event after `after` as a stream, one JSON text per line. An export has no filter, because the tree is over all events.',
    access: 'Log.Read',
    problems: ['overloaded', 'export-running', 'filter-too-expensive'],
    exports: exportTypes,
    responseHeaders: { 200: [linkHeader] },
    querystring: ListLogQuery,
    response: { 200: PaginatedListOfLogEvent },
    handler: async ({ db, exports }, request, reply) => {
      const { after = 0, order: direction = 'asc', pageNumber, pageSize, ...filter } = request.query
      const caller = String(callerOf(request).id)
      const type = acceptedForm(request, exportTypes)
      if (type !== undefined) {
        refuseFilter(filter)
        return exports.send(request, reply, { type, fileName: 'log', batches: exportLog(db, after, caller) })
      }
      const page = pageRequest(pageNumber, pageSize)
      const { json, description } = await listLog(db, { after, direction, page, filter }, caller)
      reply.headers(pageLinks('/v1/log', request.raw.url, ListLogQuery, description))
      return sendJson(reply, json)
    },
  }),
  getLogCheckpoint: route('GET /v1/log/checkpoint', {
    summary: 'Read a signed checkpoint of the log',
    description:
      'It says how far the log goes. Keep it where the operator of the service cannot change it; docs/auditing.md says why. It is the newest that a quorum of witnesses cosigned, or else the newest.',
    access: 'Log.Read',
    problems: ['log-contradicted'],
    mediaTypes: ['text/plain'],
    querystring: GetLogCheckpointQuery,
    response: { 200: LogCheckpoint },
    handler: async (parts, { query: { latest } }, reply) => {
      const cosigned = latest ? undefined : await cosignedOver(parts, 0)
      return sendText(reply, (cosigned ?? (await newestCheckpoint(parts))).checkpoint)
    },
  }),
  getLogKeys: route('GET /v1/log/key', {
    summary: 'Read the keys of the log',
    description: 'Checkpoints are verified with them. They sign nothing else.',
    access: 'public',
    response: { 200: LogKeySet },
    handler: async ({ db, keys, publicUrl }) => {
      const { era } = await headOfLog(db.read)
      return { keys: await publishedKeys(keys, originOf(publicUrl(), era)) }
    },
  }),
  getLogProof: route('GET /v1/log/proof', {
    summary: 'Prove that an event is in the log, or that the log only grew',
    description:
      'With `sequence`, the path from the event to the root of `size` events. With `from`, the hashes that lead to the roots of both sizes.',
    access: 'Log.Read',
    querystring: GetLogProofQuery,
    response: { 200: LogProof },
    handler: async ({ db }, request) => ({ hashes: await proofOf(db.read, request.query) }),
  }),
}

export function registerLog(app: App, parts: LogParts): void {
  register(app, 'Log', logRoutes, parts)
}

/** The tree is over all lines: an export that lacks some could not be verified. */
function refuseFilter(filter: LogQuery['filter']): void {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  if (given.length === 0) return
  const errors = given.map(([parameter]) => ({
    parameter,
    code: 'conflict',
    detail: `${parameter} cannot be used with an export, which has every event.`,
  }))
  throw new Problem('validation-failed', { errors })
}
