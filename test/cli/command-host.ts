import { Readable, Writable } from 'node:stream'
import { runCommandLine } from '../../server/cli/run.ts'
import type { CommandCall, Result } from './command-line.ts'

/**
 * A process that carries out one command line after another, each with its own streams, folder and
 * environment. They share only the compile cache, without which the threads of each command would compile
 * everything again.
 */
const { NODE_COMPILE_CACHE } = process.env
// Each log listens for the end of its process, and a service that does not start leaves its log open.
process.setMaxListeners(0)
process.on('message', async (call: CommandCall) => {
  process.chdir(call.folder)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, { NODE_COMPILE_CACHE }, call.env)
  const umask = process.umask()
  const stdout = new Collected()
  const stderr = new Collected()
  const streams = {
    stdin: Readable.from(call.input === '' ? [] : [Buffer.from(call.input, 'latin1')]),
    stdout,
    stderr,
  }
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true })
  }
  const status = await runCommandLine(call.args)
  process.umask(umask)
  process.send?.({ status, stdout: stdout.text, stderr: stderr.text } satisfies Result)
})

class Collected extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk
    done()
  }
}
