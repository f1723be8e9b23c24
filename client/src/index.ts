export {
  type AppClient,
  type AppOptions,
  appClient,
  type ServiceOptions,
  type SignedIn,
  serviceClient,
} from './bearer.ts'
export { type BrowserClient, browserClient } from './browser.ts'
export { answerOf, type Client, type Connection, type Exchange, ifUnchanged } from './client.ts'
export * from './facts.ts'
export * from './problem.ts'
export type { components, operations, paths } from './schema.ts'
