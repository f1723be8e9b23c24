import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { newPasswordFault } from '../../../rules/new-password.ts'
import { Refused } from '../failures.ts'

/** No password is longer, however its characters are encoded. */
const inputLimitBytes = 4096
/** A pipe that nobody writes to must not hang a script forever. */
const inputTimeoutMilliseconds = 60_000

/**
 * Reads a new password that follows the rules: twice at a terminal, without echo; else from standard input,
 * without its last newline. `names` are those of the account. Throws `Refused`; no message contains the
 * password.
 */
export async function readNewPassword(names: string[]): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice(names) : await readStandardInput()
  await checkPassword(password, names)
  return password
}

async function checkPassword(password: string, names: string[]): Promise<void> {
  const fault = await newPasswordFault(password, names)
  if (fault !== undefined) throw new Refused('password-refused', `the password ${fault}`)
}

/** The prompts go to standard error; typed characters are not shown. Ctrl-C and Ctrl-D refuse. */
async function askTwice(names: string[]): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  const interrupted = new AbortController()
  terminal.on('SIGINT', () => interrupted.abort())
  terminal.on('close', () => interrupted.abort())
  const ask = async (prompt: string) => {
    // The terminal has stopped echoing by now, so even an answer typed at once is not shown.
    process.stderr.write(prompt)
    const answer = await terminal.question('', { signal: interrupted.signal })
    process.stderr.write('\n')
    return answer
  }
  try {
    const password = await ask('New password: ')
    await checkPassword(password, names)
    if ((await ask('Repeat it: ')) === password) return password
    throw new Refused('passwords-differ', 'the two passwords differ')
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    process.stderr.write('\n')
    throw new Refused('no-password', 'no password was given', { cause: error })
  } finally {
    terminal.close()
  }
}

async function readStandardInput(): Promise<string> {
  const timer = setTimeout(() => process.stdin.destroy(), inputTimeoutMilliseconds)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > inputLimitBytes) throw new Refused('password-refused', 'the password is too long')
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Refused('no-password', 'standard input cannot be read', { cause: error })
  } finally {
    clearTimeout(timer)
  }
  const password = decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  if (password === '') {
    throw new Refused(
      'no-password',
      'no password was given: without a terminal it is read from standard input',
    )
  }
  return password
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new Refused('password-refused', 'the password is not UTF-8', { cause: error })
  }
}
