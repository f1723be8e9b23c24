import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useMay } from '../auth/session.ts'
import { DayRange } from '../orders/filter/day-range.tsx'
import { numberOf } from '../orders/identity.ts'
import { approvalsQuery } from '../orders/queries.ts'
import { Form } from '../ui/form.tsx'
import { CloseIcon } from '../ui/icons.tsx'
import { Name } from '../ui/name.tsx'
import { isFiltered, type LogSearch } from './search.ts'
import { kindsBySubject, subjectOfAddress, wordsOf } from './words.ts'

interface FilterProps {
  search: LogSearch
  onChange(search: LogSearch): void
}

/** Chooses what the log shows. Each choice takes effect at once, and shows the newest events first. */
export function LogFilter({ search, onChange }: FilterProps) {
  const kindId = useId()
  const choose = (change: LogSearch) => onChange({ ...search, ...change, pageNumber: undefined })
  const { kind = '', from = '', to = '', subject } = search
  return (
    <search className="row gap-3 log-filter">
      <div className="field">
        <label htmlFor={kindId}>What</label>
        <select
          id={kindId}
          className="input"
          value={kind}
          onChange={({ target }) => choose({ kind: target.value || undefined })}
        >
          <option value="">Everything</option>
          {kind !== '' && wordsOf(kind).label === kind && <option value={kind}>{kind}</option>}
          {Object.entries(kindsBySubject).map(([group, kinds]) => (
            <optgroup key={group} label={group}>
              {Object.entries(kinds).map(([name, { label }]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </div>
      <ByField by={search.by ?? ''} onChoose={(by) => choose({ by: by || undefined })} />
      <div className="field">
        <span className="label" aria-hidden="true">
          When
        </span>
        <DayRange
          name="Done"
          days={{ from, to }}
          onChoose={(days) => choose({ from: days.from || undefined, to: days.to || undefined })}
        />
      </div>
      {subject && (
        <p className="row nowrap wrap box log-subject">
          <span>
            Only <SubjectName subject={subject} />
          </span>
          <Button
            className="button button-icon button-quiet"
            aria-label="Show every subject"
            onPress={() => choose({ subject: undefined })}
          >
            <CloseIcon />
          </Button>
        </p>
      )}
      {isFiltered(search) && (
        <Button className="button button-quiet" onPress={() => onChange({ pageSize: search.pageSize })}>
          Clear
        </Button>
      )}
    </search>
  )
}

/** An order is called by its number if this person may read it. */
function SubjectName({ subject }: { subject: string }) {
  const [kind, id = ''] = subject.split(':')
  const enabled = useMay('Orders.Read') && kind === 'order'
  const { data, isError } = useQuery({ ...approvalsQuery(id), enabled })
  return <Name of={enabled && !isError ? `order ${numberOf(data ?? {})}` : subjectOfAddress(subject)} />
}

/** Takes effect on Enter, or when the person leaves the field. */
function ByField({ by, onChoose }: { by: string; onChoose(by: string): void }) {
  const id = useId()
  const [typed, setTyped] = useState(by)
  useEffect(() => setTyped(by), [by])
  const take = () => {
    if (typed.trim() !== by) onChoose(typed.trim())
  }
  return (
    <Form className="field" onSubmit={take}>
      <label htmlFor={id}>Who</label>
      <input
        id={id}
        className="input"
        value={typed}
        maxLength={200}
        placeholder="User name"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={take}
      />
    </Form>
  )
}
