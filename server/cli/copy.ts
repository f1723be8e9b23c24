import { type CopyProgress, type CopyReport, copyDatabase } from '../db/copy/copy.ts'
import type { Invocation, Outcome } from './command.ts'
import { UsageError } from './failures.ts'
import { grouped, progressPrinter } from './progress.ts'
import { table } from './table.ts'

export async function runCopy(invocation: Invocation): Promise<Outcome> {
  const report = await copyDatabase({
    from: requiredAddress(invocation, 'from'),
    to: requiredAddress(invocation, 'to'),
    onProgress: progressPrinter(invocation.switches.has('json'), describeProgress),
  })
  return {
    value: report,
    text: describeReport(report),
    hint:
      'What is written to the file from now on is not in the copy: start the service with DATABASE_URL naming' +
      ' the new database, and put the file away.',
  }
}

function describeProgress({ phase, table: name, rows, of }: CopyProgress): string {
  return `${phase} ${name}: ${grouped(rows)} of ${grouped(of)} rows`
}

function requiredAddress(invocation: Invocation, name: 'from' | 'to'): string {
  const address = invocation.texts[name]
  if (address === undefined || address === '') throw new UsageError(`--${name} is missing`)
  return address
}

function describeReport(report: CopyReport): string {
  const counts = Object.entries(report.tables).map(([name, { rows }]) => [name, grouped(rows)])
  const left =
    report.leftBehind.length === 0
      ? ''
      : `\nNot copied, for it is not Countersign’s: ${report.leftBehind.join(', ')}.`
  const sum = `Copied ${grouped(report.rows)} rows; counts and content are the same on both sides.`
  return `${table(['TABLE', 'ROWS'], counts)}\n${sum}${left}`
}
