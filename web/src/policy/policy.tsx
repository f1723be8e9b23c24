import './policy.css'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { flushSync } from 'react-dom'
import { Refused } from '../administration/pieces.tsx'
import { useAction } from '../auth/action.ts'
import { useMay, useUser } from '../auth/session.ts'
import { type Policy, policyQuery } from '../orders/queries.ts'
import type { Reading } from '../ui/draft.ts'
import { useEdit } from '../ui/edit.ts'
import { Unread } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { PlusIcon } from '../ui/icons.tsx'
import { Denied } from '../ui/note.tsx'
import { PageHead } from '../ui/page-title.tsx'
import { OnePerson } from './one-person.tsx'
import { PolicyPreview } from './preview.tsx'
import { acceptPolicy, savePolicy, type WireRow } from './queries.ts'
import { PolicyRowFields } from './row.tsx'
import { areSame, type DraftRow, draftOf, fromId, readFroms, rowAfter, rowLimit, wireRowsOf } from './rows.ts'
import { PolicyTable } from './table.tsx'

/** How many approvals an order needs. People with the permission can change it here. */
export function PolicyView() {
  const mayRead = useMay('Orders.Read')
  const policy = useQuery({ ...policyQuery, enabled: mayRead })
  const mayChange = useMay('Policy.Manage')
  return (
    <>
      <PageHead
        title="Approval policy"
        lead="The policy in force when an order is created decides how many approvals it needs. A change applies to new orders only: pending orders keep their rule."
      />
      {mayRead ? <Unread query={policy} /> : <Denied what="view the approval policy" />}
      {policy.data && mayChange && <PolicyForm policy={policy.data} />}
      {policy.data && !mayChange && (
        <div className="card card-stack">
          <PolicyTable rows={policy.data.rows} />
        </div>
      )}
    </>
  )
}

function PolicyForm({ policy }: { policy: Policy }) {
  const user = useUser()
  const draft = useEdit('policy', user.id, draftOf(policy.rows), policy.etag)
  const saving = useAction(
    (next: WireRow[]) => savePolicy(user.id, next, draft.etag),
    (saved) => {
      acceptPolicy(saved)
      draft.drop()
    },
  )
  const rows = draft.value
  const froms = readFroms(rows)
  const wire = wireRowsOf(rows)
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const isSame = wire !== undefined && areSame(wire, policy.rows)

  function submit() {
    if (isSame) return
    setChecked(new Set(rows.map(({ key }) => key)))
    const faulty = rows.find((_, index) => froms[index]?.ok === false)
    if (faulty) document.getElementById(fromId(faulty))?.focus()
    if (wire) saving.act(wire)
  }
  function drop() {
    draft.drop()
    saving.reset()
  }

  return (
    <div className="policy">
      <Form className="card card-stack" aria-label="Approval policy" noValidate onSubmit={submit}>
        {!draft.isChanged && <OnePerson />}
        <Rows
          rows={rows}
          froms={froms}
          checked={checked}
          isReadOnly={saving.isPending}
          onChange={draft.change}
          onLeave={({ key }) => setChecked(new Set([...checked, key]))}
        />
        <Refused failure={saving.error} onLoad={drop} />
        <div className="row">
          <Submit isClosed={saving.isPending || isSame}>
            {saving.isPending ? 'Saving …' : 'Save policy'}
          </Submit>
          {draft.isChanged && !saving.isPending && (
            <Button className="button button-quiet" onPress={drop}>
              Discard changes
            </Button>
          )}
        </div>
      </Form>
      <PolicyPreview rows={wire} />
    </div>
  )
}

interface RowsProps {
  rows: readonly DraftRow[]
  froms: readonly Reading<string>[]
  /** Keys of the rows that the person has left. */
  checked: ReadonlySet<string>
  isReadOnly: boolean
  onChange(rows: DraftRow[]): void
  onLeave(row: DraftRow): void
}

/** The focus goes to an added row, and to the button below when a row is removed. */
function Rows({ rows, froms, checked, isReadOnly, onChange, onLeave }: RowsProps) {
  const add = useRef<HTMLButtonElement>(null)
  function addRow() {
    const row = rowAfter(rows)
    flushSync(() => onChange([...rows, row]))
    document.getElementById(fromId(row))?.focus()
  }
  function removeRow({ key }: DraftRow) {
    onChange(rows.filter((each) => each.key !== key))
    add.current?.focus()
  }
  return (
    <>
      {rows.map((row, index) => (
        <PolicyRowFields
          key={row.key}
          row={row}
          number={index + 1}
          isOnly={rows.length === 1}
          reading={froms[index] ?? { ok: true, wire: '0' }}
          isChecked={checked.has(row.key)}
          isReadOnly={isReadOnly}
          onChange={(next) => onChange(rows.map((each) => (each.key === next.key ? next : each)))}
          onLeave={() => row.text.trim() !== '' && onLeave(row)}
          onRemove={() => removeRow(row)}
        />
      ))}
      <div>
        <Button
          ref={add}
          className="button button-small"
          isDisabled={rows.length >= rowLimit || isReadOnly}
          onPress={addRow}
        >
          <PlusIcon /> Add row
        </Button>
      </div>
    </>
  )
}
