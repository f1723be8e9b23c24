import { writeSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

// Kills the process with SIGKILL at one step of writing a file: at the KILL_COUNT-th time that it gets there.
const { KILL_AT, KILL_COUNT } = process.env
let count = 0

function reached(step: string): void {
  if (step !== KILL_AT) return
  count += 1
  if (count === Number(KILL_COUNT)) process.kill(process.pid, 'SIGKILL')
}

const { open, rename } = promises
const probe = await open(new URL(import.meta.url))
const prototype = Object.getPrototypeOf(probe)
await probe.close()
const { writeFile, sync } = prototype

prototype.writeFile = async function (this: promises.FileHandle, text: string) {
  reached('opened')
  if (KILL_AT === 'half written') {
    writeSync(this.fd, text.slice(0, text.length / 2))
    reached('half written')
    return writeFile.call(this, text.slice(text.length / 2))
  }
  await writeFile.call(this, text)
  reached('written')
}
prototype.sync = async function (this: promises.FileHandle) {
  await sync.call(this)
  reached('flushed')
}
promises.rename = async (from, to) => {
  reached('before the rename')
  await rename(from, to)
  reached('after the rename')
}
syncBuiltinESMExports()
