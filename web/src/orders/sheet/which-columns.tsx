import { useState } from 'react'
import type { Columns } from './reading.ts'
import { readWith, sheet } from './sending.ts'

const names = { customer: 'Customer', total: 'Total', note: 'Note (optional)' } as const
type Name = keyof typeof names

/** Asks which column holds what. `samples` are the first cells of each column. */
export function WhichColumns({ samples }: { samples: readonly string[] }) {
  const [chosen, setChosen] = useState<Partial<Columns>>(() => sheet.get().columns ?? {})
  function choose(name: Name, value: string) {
    const next = { ...chosen, [name]: value === '' ? undefined : Number(value) }
    setChosen(next)
    const { customer, total, note } = next
    if (customer === undefined || total === undefined || customer === total) return
    readWith({ columns: { customer, total, ...(note !== undefined && { note }) } })
  }
  return (
    <fieldset className="columns">
      <legend>Which column holds what?</legend>
      {(Object.keys(names) as Name[]).map((name) => (
        <label key={name} className="stack gap-1">
          {names[name]}
          <select
            className="input"
            value={chosen[name] ?? ''}
            onChange={({ target }) => choose(name, target.value)}
          >
            <option value="">{name === 'note' ? 'None' : 'Choose …'}</option>
            {samples.map((sample, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is known by its place
              <option key={at} value={at}>
                {at + 1}: {sample.slice(0, 60)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  )
}
