import { runCommandLine } from './cli/run.ts'

// A reader that has seen enough (`| head`) is no failure; that what was to be said is lost, on a full disk, is one.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return
  process.stderr.write(`countersign: standard output cannot be written: ${message}\n`)
  process.exit(1)
})
// There is nowhere left to say so.
process.stderr.on('error', () => process.exit(1))

process.exitCode = await runCommandLine(process.argv.slice(2))
