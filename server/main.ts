import { runCommandLine } from './cli/run.ts'

// A reader that stops reading (`| head`) is not an error. Lost output, as on a full disk, is one.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return
  process.stderr.write(`countersign: standard output cannot be written: ${message}\n`)
  process.exit(1)
})
// Nothing is left to report to.
process.stderr.on('error', () => process.exit(1))

process.exitCode = await runCommandLine(process.argv.slice(2))
