import { queryOptions, useQuery } from '@tanstack/react-query'
import type { components } from '../../../../client/src/schema.ts'
import { answerOf, client } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../auth/session.ts'
import { Unsendable } from '../../ui/describe.ts'

type Schemas = components['schemas']
export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['WebhookDelivery']
type Events = Schemas['AddWebhookCommand']['events']

/** The values of the form. */
export interface WebhookValues {
  url: string
  events: string[]
}

export interface NewWebhook extends WebhookValues {
  enabled: boolean
}

const key = 'webhooks'

/** Shows a change in every view. */
const changed = () => queries.invalidateQueries({ queryKey: [key] })

/** The service sends by itself, and nothing announces it. */
const watched = { staleTime: 0, refetchInterval: 5_000 }

export const webhooksQuery = queryOptions({
  queryKey: [key, 'all'],
  queryFn: ({ signal }): Promise<Webhook[]> => Array.fromAsync(client.each('/v1/webhooks', { signal })),
  ...watched,
})

export const useWebhook = (id: string) =>
  useQuery({
    queryKey: [key, 'one', id],
    enabled: useMay('Webhooks.Manage'),
    queryFn: async ({ signal }) => {
      const { data, etag = '*' } = await client.GET('/v1/webhooks/{id}', { params: { path: { id } }, signal })
      return { webhook: data, etag }
    },
    ...watched,
  })

/** The last attempts, newest first. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [key, 'one', id, 'deliveries'],
    queryFn: ({ signal }): Promise<Delivery[]> =>
      Array.fromAsync(client.each('/v1/webhooks/{id}/deliveries', { params: { path: { id } }, signal })),
    ...watched,
  })

/** Throws `Unsendable` if it has no events. */
function sendable({ url, events }: WebhookValues) {
  if (events.length === 0) throw new Unsendable('Choose at least one kind of event.')
  return { url: url.trim(), events: events as Events }
}

export async function addWebhook({ enabled, ...values }: NewWebhook) {
  const body = { ...sendable(values), enabled }
  const added = await answerOf(client.POST('/v1/webhooks', { body }))
  await changed()
  return added
}

/** Changes the version that the person saw, and returns the tag of the new one. Throws as `addWebhook`. */
export async function changeWebhook(id: string, etag: string, values: WebhookValues): Promise<string> {
  return change(id, etag, sendable(values))
}

/** A failed event is tried again at once. */
export async function switchWebhook(id: string, etag: string, enabled: boolean): Promise<string> {
  return change(id, etag, { enabled })
}

async function change(id: string, etag: string, body: Schemas['ChangeWebhookCommand']): Promise<string> {
  const params = { path: { id }, header: { 'If-Match': etag } }
  const { etag: next = '' } = await client.PATCH('/v1/webhooks/{id}', { params, body }).finally(changed)
  return next
}

export async function removeWebhook(id: string): Promise<void> {
  await client.DELETE('/v1/webhooks/{id}', { params: { path: { id } } })
}

/** Once the page has been left, because there is nothing left to read. */
export function forgetWebhook(id: string): void {
  queries.removeQueries({ queryKey: [key, 'one', id] })
  void changed()
}

/** Unless the old secret ends, both are valid for a day. */
export async function rotateWebhookSecret(id: string, dropOld: boolean): Promise<string> {
  const params = { path: { id } }
  const { secret } = await answerOf(client.POST('/v1/webhooks/{id}/secrets', { params, body: { dropOld } }))
  await changed()
  return secret
}

export async function pingWebhook(id: string): Promise<Delivery> {
  return answerOf(client.POST('/v1/webhooks/{id}/ping', { params: { path: { id } } })).finally(changed)
}

/** Sends again what the webhook asks for, from this log entry on. */
export async function replayWebhook(id: string, from: number): Promise<void> {
  await client.POST('/v1/webhooks/{id}/replay', { params: { path: { id } }, body: { from } }).finally(changed)
}
