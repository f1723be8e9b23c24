import { DatabaseUnavailable, QueryTooSlow, TimedOut, TooManyWaiting } from '../db/errors.ts'

/** The command cannot be carried out: exit status 1. `message` is for a person and holds no secret. */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: string
  /** Members that `--json` prints besides code and message. */
  readonly members: Record<string, unknown> | undefined

  constructor(
    code: string,
    message: string,
    { members, ...options }: ErrorOptions & { members?: Record<string, unknown> } = {},
  ) {
    super(message, options)
    this.code = code
    this.members = members
  }
}

/** The command line itself is wrong: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export interface Failure {
  code: string
  /** One line, possibly with a list below it. */
  message: string
  exitStatus: 1 | 2
  members?: Record<string, unknown> | undefined
}

const systemErrors: Record<string, string> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EEXIST: 'already exists',
  EISDIR: 'is a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a directory',
  EROFS: 'the file system is read-only',
}

/**
 * Explains an error to the person at the terminal. Most are recognized by name, because importing the modules
 * that throw them would slow every command down. An unknown error is a fault of this program and keeps its
 * stack.
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, exitStatus: 2 }
  if (error instanceof Refused) {
    const { code, message, members } = error
    return { code, message, exitStatus: 1, ...(members && { members }) }
  }
  if (!(error instanceof Error)) return { code: 'internal-error', message: String(error), exitStatus: 1 }
  if (error.name === 'ConfigurationError') {
    const faults = (error as { faults?: string[] }).faults ?? [error.message]
    return { code: 'configuration', message: cannotStart(faults), exitStatus: 1 }
  }
  if (error.name === 'DatabaseRefused')
    return { code: 'database-refused', message: error.message, exitStatus: 1 }
  if (error instanceof TooManyWaiting) return { code: 'overloaded', message: error.message, exitStatus: 1 }
  if (error instanceof TimedOut || error instanceof QueryTooSlow) {
    return { code: 'timed-out', message: error.message, exitStatus: 1 }
  }
  if (error instanceof DatabaseUnavailable) {
    return { code: 'database-unavailable', message: `the database: ${error.message}`, exitStatus: 1 }
  }
  if (error.name === 'Problem') {
    const { code, errors } = error as unknown as { code: string; errors?: { detail: string }[] }
    const sentences = errors?.map(({ detail }) => detail) ?? [error.message]
    if (code === 'last-credential') sentences.push('`user link` makes another')
    return { code, message: sentences.map(asClause).join('; '), exitStatus: 1 }
  }
  const { code, path, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  const reason = code === undefined ? undefined : systemErrors[code]
  if (reason !== undefined && code !== undefined) {
    const subject = path ?? (address === undefined ? undefined : `${address}:${port}`)
    const message = subject === undefined ? reason : `${subject}: ${reason}`
    return { code: code.toLowerCase(), message, exitStatus: 1 }
  }
  return { code: 'internal-error', message: error.stack ?? error.message, exitStatus: 1 }
}

/** Turns a sentence of the API into the rest of a line that names the program. */
function asClause(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
}

function cannotStart(faults: string[]): string {
  return `Countersign cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`
}
