import { subscribe } from 'node:diagnostics_channel'
import type { RouteOptions } from 'fastify'
import { factsOf } from '../../server/http/fields.ts'
import type { App } from '../../server/http/route.ts'
import { type ServiceOptions, startService } from './service.ts'

/** One route as the app registered it: one method, HEAD ones included. */
export interface Route {
  method: string
  url: string
  /** `url` with an id in place of each parameter: what a request can be sent to. */
  path: string
  access: string | undefined
  limit: string | undefined
  hasBody: boolean
  takesJson: boolean
  takesForm: boolean
  /** Caches may keep its answers. */
  isForAll: boolean
  operationId: string | undefined
  /** `Accept` can ask for another form than JSON. */
  hasForms: boolean
}

const tables = new WeakMap<object, RouteOptions[]>()
/** Called with every route of every app before the app's own hooks. Tests may change what it declares. */
let intercept: ((route: RouteOptions) => void) | undefined

// Fastify announces every instance, so the route table comes from the app, not from a list.
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: App }
  const routes: RouteOptions[] = []
  tables.set(fastify, routes)
  fastify.addHook('onRoute', (route) => {
    intercept?.(route)
    routes.push(route)
  })
})

export const sampleId = '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'

/** Every route of the app, including undescribed ones. */
export function routesOf(app: App): Route[] {
  const routes = tables.get(app) ?? []
  return routes.flatMap(({ method, url, config, schema }) =>
    [method].flat().map((one) => ({
      method: one,
      url,
      path: url.replaceAll(/:\w+/g, sampleId),
      access: config?.access,
      limit: config?.limit,
      hasBody: schema?.body !== undefined || config?.takesBytes === true,
      takesJson: schema?.body !== undefined && factsOf(schema.body).form !== schema.body,
      takesForm: factsOf(schema?.body).form !== undefined,
      isForAll: config?.isForAll === true,
      operationId: schema?.operationId,
      hasForms: config?.exports !== undefined || config?.textForm !== undefined,
    })),
  )
}

/** The same for a service with these options. */
export async function tableOfRoutes(options?: ServiceOptions): Promise<Route[]> {
  const inside = await startService({ ...options, inside: true })
  await inside.close()
  return routesOf(inside.app)
}

/** Runs `work` while every route that is registered passes through `change` first. */
export async function changingRoutes<T>(
  change: (route: RouteOptions) => void,
  work: () => Promise<T>,
): Promise<T> {
  intercept = change
  try {
    return await work()
  } finally {
    intercept = undefined
  }
}
