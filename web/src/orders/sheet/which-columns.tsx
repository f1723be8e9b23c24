import { readWith, sheet } from './sending.ts'

const names = { customer: 'Customer', total: 'Total', note: 'Note (optional)' } as const
type Name = keyof typeof names

/** Asks which column holds what. `samples` are the first cells of each column. */
export function WhichColumns({ samples }: { samples: readonly string[] }) {
  const { columns = {} } = sheet.use()
  const choose = (name: Name, value: string) =>
    readWith({ columns: { ...columns, [name]: value === '' ? undefined : Number(value) } })
  return (
    <fieldset className="columns">
      <legend>Which column holds what?</legend>
      {(Object.keys(names) as Name[]).map((name) => (
        <label key={name} className="stack gap-1">
          {names[name]}
          <select
            className="input"
            value={columns[name] ?? ''}
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
