import './policy.css'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { flushSync } from 'react-dom'
import { isPassing, problemOf, retryDelayMilliseconds } from '../api/problem.ts'
import { queries } from '../api/queries.ts'
import { ofThisPerson, useMay, useUser } from '../auth/session.ts'
import { announce } from '../ui/announce.ts'
import { sendingOf, type UserId } from '../ui/draft.ts'
import { useEdit } from '../ui/edit.ts'
import { FailureNote, Unread } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { PlusIcon } from '../ui/icons.tsx'
import { PageHead } from '../ui/page-title.tsx'
import { PolicyConflict } from './conflict.tsx'
import { PolicyPreview } from './preview.tsx'
import { type Policy, policyChanged, policyQuery, replacePolicy, type WireRow } from './queries.ts'
import { PolicyRowFields } from './row.tsx'
import {
  areSame,
  type DraftRow,
  draftOf,
  type FromReading,
  fromId,
  readFroms,
  rowAfter,
  rowLimit,
  wireRowsOf,
} from './rows.ts'
import { PolicyTable } from './table.tsx'

/** How many approvals an order needs. People with the permission can change it here. */
export function PolicyView() {
  const policy = useQuery(policyQuery)
  const mayChange = useMay('Policy.Manage')
  return (
    <>
      <PageHead
        title="Approval policy"
        lead="The policy in force when an order is created decides how many approvals it needs. A change applies to new orders only: pending orders keep their rule."
      />
      <Unread query={policy} />
      {policy.data && mayChange && <PolicyForm policy={policy.data} />}
      {policy.data && !mayChange && (
        <div className="card card-stack policy-card">
          <PolicyTable rows={policy.data.rows} caption="Approval policy" />
        </div>
      )}
    </>
  )
}

function PolicyForm({ policy }: { policy: Policy }) {
  const user = useUser()
  const draft = useEdit('policy', user.id, draftOf(policy.rows), policy.etag)
  const saving = useSaving(user.id, draft.drop)
  const rows = draft.value
  const froms = readFroms(rows)
  const wire = wireRowsOf(rows)
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const isSame = !draft.isChanged || (wire !== undefined && areSame(wire, policy.rows))

  function submit() {
    if (saving.isPending || isSame) return
    setChecked(new Set(rows.map(({ key }) => key)))
    const faulty = rows.find((_, index) => froms[index]?.ok === false)
    if (faulty) document.getElementById(fromId(faulty))?.focus()
    if (wire) saving.save(wire, draft.etag)
  }
  function replace({ etag }: Policy) {
    draft.change(rows, etag)
    if (wire) saving.save(wire, etag)
  }
  function drop() {
    draft.drop()
    saving.reset()
  }

  return (
    <div className="policy">
      <Form className="card card-stack policy-card" aria-label="Approval policy" noValidate onSubmit={submit}>
        {draft.isRestored && <Restored onStartOver={drop} />}
        <Rows
          rows={rows}
          froms={froms}
          checked={checked}
          isReadOnly={saving.isPending}
          onChange={(next) => draft.change(next)}
          onLeave={({ key }) => setChecked(new Set([...checked, key]))}
        />
        <Outcome saving={saving} onReplace={replace} onTake={drop} />
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

function Restored({ onStartOver }: { onStartOver(): void }) {
  return (
    <p className="row row-between soft" role="status">
      Your changes are still here, but not saved.
      <Button className="button button-quiet button-small" onPress={onStartOver}>
        Start over
      </Button>
    </p>
  )
}

interface RowsProps {
  rows: readonly DraftRow[]
  froms: readonly FromReading[]
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

type Saving = ReturnType<typeof useSaving>

/** Retries while the failure is passing. On a conflict the current policy is fetched before it is shown. */
function useSaving(userId: UserId, onSaved: () => void) {
  const { mutate, ...state } = useMutation({
    mutationFn: (attempt: () => Promise<Policy>) => attempt(),
    retry: (_tries, failure) => isPassing(failure),
    retryDelay: retryDelayMilliseconds,
    onSuccess: (policy) => {
      queries.setQueryData(policyQuery.queryKey, policy)
      onSaved()
      announce('Approval policy saved')
    },
  })
  const save = (rows: WireRow[], etag: string) => mutate(ofThisPerson(() => sendRows(userId, rows, etag)))
  return { ...state, save }
}

async function sendRows(userId: UserId, rows: WireRow[], etag: string): Promise<Policy> {
  try {
    const { idempotencyKey } = sendingOf('policy', userId, [rows, etag])
    return await replacePolicy({ rows, etag, idempotencyKey })
  } catch (failure) {
    if (isConflict(failure)) await policyChanged()
    throw failure
  }
}

const isConflict = (failure: unknown) =>
  problemOf(failure, 'precondition-failed', 'concurrency-conflict') !== undefined

interface OutcomeProps {
  saving: Saving
  onReplace(current: Policy): void
  onTake(): void
}

/** Shows a failure. Always there, because screen readers watch it. */
function Outcome({ saving, onReplace, onTake }: OutcomeProps) {
  const { failureReason: failure } = saving
  return (
    <div role="status" className="policy-attempt">
      {failure !== null &&
        (isConflict(failure) ? (
          <PolicyConflict onReplace={onReplace} onTake={onTake} />
        ) : (
          <FailureNote failure={failure} />
        ))}
    </div>
  )
}
