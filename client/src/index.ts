export { type DecisionStatement, type KeptSignature, verifyDecision } from '../../proof/decision.ts'
export { readVerifierKey, type VerifierKey } from '../../proof/note.ts'
export type { ApprovedOrder } from '../../proof/order.ts'
export { spellLineProof, type Vouched } from '../../proof/proof.ts'
export { type Receipt, readReceipt, type SigningKeys } from '../../proof/receipt.ts'
export { type JudgedReceipt, judgeReceipt, type Verdict, verdictOf } from '../../proof/verdict.ts'
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
export * from './facts.ts'
export type { ChangeOptions, Orders } from './orders.ts'
export * from './problem.ts'
export type { components, operations, paths } from './schema.ts'
export { type Meant, type ShownDecision, signDecisions } from './signing.ts'
