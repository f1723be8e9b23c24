export {
  type AppClient,
  type AppOptions,
  appClient,
  type ServiceOptions,
  type SignedIn,
  serviceClient,
} from './bearer.ts'
export { type BrowserClient, browserClient } from './browser.ts'
export { answerOf, type Calls, type Connection, type Exchange, ifUnchanged } from './calls.ts'
export type { Batch, Change, FollowOptions } from './changes.ts'
export type { Client } from './client.ts'
export { type DecisionStatement, type KeptSignature, verifyDecision } from './decision.ts'
export * from './facts.ts'
export { readVerifierKey, type VerifierKey } from './note.ts'
export type { ChangeOptions, Orders } from './orders.ts'
export * from './problem.ts'
export { spellLineProof, type Vouched, verifyLineProof } from './proof.ts'
export { readReceipt, type Statement, verifyReceipt } from './receipt.ts'
export type { components, operations, paths } from './schema.ts'
export { type Meant, type ShownDecision, signDecisions } from './signing.ts'
