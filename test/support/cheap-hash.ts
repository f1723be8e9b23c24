import { hash } from '@node-rs/argon2'

/** The lowest cost that Argon2id allows. A hash states its cost, so a sign-in takes 0.1 ms instead of 12. */
const leastCost = { algorithm: 2, memoryCost: 8, timeCost: 1, parallelism: 1 }

/** Tests of the cost itself hash with server/auth/credentials/passwords/passwords.ts. */
export const hashOf = (password: string) => hash(password, leastCost)
