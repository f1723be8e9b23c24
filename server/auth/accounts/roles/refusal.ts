/**
 * What an operation on accounts and roles returns when a rule forbids it: it has then changed nothing. The inserts decide
 * what is unique and conditional updates decide about states, so two simultaneous ones cannot both win.
 */
export type Refusal =
  | { refused: 'name-taken' | 'email-taken' | 'no-such-user' | 'no-such-client' | 'account-disabled' }
  | { refused: 'unknown-role'; unknown: string[]; known: string[] }
  | { refused: 'role-taken' }
  | { refused: 'role-held'; accounts: number }
