import { readPlace } from '../../../proof/place.ts'
import { type App, header, register, route } from '../../http/route.ts'
import { Type } from '../../http/schema.ts'
import type { LiveStreams } from './streams.ts'

const lastEventIdHeader = header(
  'Last-Event-ID',
  'Continue after the event with this id. Without it, the stream begins now. If it is no place in this log, perhaps because the database was restored, the stream begins with `reset`.',
  { example: '1.1043' },
)

const stream = Type.Unsafe<undefined>({
  type: 'string',
  description:
    'Server-sent events. The id of each event is its place in the log, `<era>.<sequence>`; each restore of the database begins an era. Its data is `{id, kind, version, status}` of the order, with the status as a number. A comment comes every 15 seconds. An event `reset` takes the place of more than 5,000 events, and of a place in another era: read again what you show.',
  examples: [
    'id: 1.1043\ndata: {"id":"019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57","kind":"approved","version":2,"status":1}\n\n',
  ],
})

const streamOrderEvents = route('GET /v1/orders/events', {
  summary: 'Follow changes of orders',
  description:
    'The stream does not count as use of a session, and ends with the session or the permission. A caller can have four.',
  access: 'Orders.Read',
  problems: ['too-many-streams'],
  requestHeaders: [lastEventIdHeader],
  isBackground: true,
  mediaTypes: ['text/event-stream'],
  response: { 200: stream },
  handler: async (streams: LiveStreams, request, reply) => {
    const lastEventId = request.headers['last-event-id']
    return streams.send(request, reply, typeof lastEventId === 'string' ? readPlace(lastEventId) : null)
  },
})

/** The live list (section 16 of the contract). */
export function registerLiveOrders(app: App, streams: LiveStreams): void {
  app.decorateRequest('isBeyondLog', false)
  app.addHook('preClose', async () => streams.close())
  register(app, 'Orders', { streamOrderEvents }, streams)
}
