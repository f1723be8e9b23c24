/**
 * Prefix of a hash that another program made. It lasts until the user signs in and the password is hashed
 * again.
 */
const mark = 'imported:'

export const markImported = (passwordHash: string) => mark + passwordHash
export const isImported = (passwordHash: string) => passwordHash.startsWith(mark)

/** The hash as the other program wrote it. */
export function writtenHash(passwordHash: string): string {
  return isImported(passwordHash) ? passwordHash.slice(mark.length) : passwordHash
}

export const isBcrypt = (writtenHash: string) => writtenHash.startsWith('$2')

/** Loaded on first use, because an imported bcrypt hash is gone after its user's first sign-in. */
export async function verifyBcrypt(writtenHash: string, password: string): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt')
  return verify(password, writtenHash)
}

const bcryptPattern = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/
const argon2Pattern =
  /^\$argon2(?:id|i|d)\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,10})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,86}$/

/** One check takes at most about 256 MiB, and a second or two of a core. */
const limits = { memoryKib: 262_144, memoryKibTimesPasses: 1_048_576, lanes: 16, bcryptCost: 14 }

/**
 * Returns the rule that the hash of an imported password breaks, or undefined. Any sign-in could otherwise be
 * made to cost gigabytes or minutes.
 */
export function passwordHashFault(passwordHash: string): string | undefined {
  if (isBcrypt(passwordHash)) return bcryptFault(passwordHash)
  const [, memory, passes, lanes] = (argon2Pattern.exec(passwordHash) ?? []).map(Number)
  if (memory === undefined || passes === undefined || lanes === undefined) {
    return 'must be a hash of Argon2 (PHC format, version 19) or bcrypt ($2a$, $2b$, $2y$)'
  }
  if (lanes < 1 || passes < 1 || memory < 8 * lanes) return 'has impossible parameters'
  if (memory > limits.memoryKib || memory * passes > limits.memoryKibTimesPasses || lanes > limits.lanes) {
    return 'costs too much: at most m=262144, m times t 1048576 and p=16'
  }
  return undefined
}

function bcryptFault(passwordHash: string): string | undefined {
  const [, cost] = (bcryptPattern.exec(passwordHash) ?? []).map(Number)
  if (cost === undefined || cost < 4) return 'must be a hash of bcrypt: $2a$, $2b$ or $2y$, and a cost from 4'
  return cost > limits.bcryptCost ? `costs too much: at most ${limits.bcryptCost}` : undefined
}
