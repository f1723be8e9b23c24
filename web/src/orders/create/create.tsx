import './create.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useCanGoBack, useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useMay, useUser } from '../../auth/session.ts'
import { dropDraft, focusOn, refusalsOf, useDraft, useForm } from '../../ui/draft.ts'
import { Form, Submit } from '../../ui/form.tsx'
import { Denied } from '../../ui/note.tsx'
import { PageHead } from '../../ui/page-title.tsx'
import { Restored } from '../../ui/restored.tsx'
import { rowFor, ruleInWords } from '../policy.ts'
import { policyQuery } from '../queries.ts'
import { type Attempt, useCreation } from './attempt.ts'
import { CustomerField, NoteField, TotalField } from './field.tsx'
import { FilesField } from './files-field.tsx'
import { type Draft, type FieldName, fieldNames, fields, filesPlace, place, prepareSending } from './form.ts'
import { AttemptNote } from './note.tsx'
import { Replacing } from './replacing.tsx'
import { Similar } from './similar.tsx'
import type { TotalReading } from './total-input.ts'

export function CreateOrderView() {
  const may = useMay('Orders.Create')
  return (
    <>
      <PageHead title="New order">
        {may && (
          <Link to="/orders/new/sheet" className="button">
            From a spreadsheet
          </Link>
        )}
      </PageHead>
      {may ? <NewOrder /> : <Denied what="create orders" />}
    </>
  )
}

function NewOrder() {
  const user = useUser()
  const form = useForm(place, user.id, fields)
  const files = useDraft<readonly File[]>(filesPlace, user.id)
  const navigate = useNavigate()
  // Back does not return to a form that is done.
  const isAnother = useRef(false)
  const { attempt, start, stop, forget } = useCreation((id) => {
    if (isAnother.current) startOver()
    else void navigate({ to: '/orders/$id', params: { id }, replace: true })
    return !isAnother.current
  })
  const [sent, setSent] = useState<Draft>()
  const faults = faultsOf(attempt)
  const rule = useRule(form.readings.total)
  const isTrying = attempt.kind === 'trying' || attempt.kind === 'created'
  // Focuses the field before the title takes the focus.
  useLayoutEffect(() => void focusOn('customer'), [])
  useFocusAfterFailure(attempt)

  function submit(another: boolean) {
    if (isTrying) return
    isAnother.current = another
    const values = form.submit()
    if (values === undefined) return
    setSent(form.texts)
    start(prepareSending(user.id, form.texts, values))
  }

  function startOver() {
    forget()
    form.drop()
    files.drop()
    focusOn('customer')
  }

  const fieldProps = (name: FieldName) => ({
    ...form.field(name),
    isReadOnly: isTrying,
    // The refusal is about the value that was sent, not about one typed since.
    refusal: sent?.[name] === form.texts[name] ? faults?.[name] : undefined,
  })
  return (
    <Form
      className="card sheet stack gap-5 create"
      noValidate
      onSubmit={() => submit(false)}
      onKeyDown={({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey) && submit(true)}
      aria-label="New order"
    >
      {form.isRestored && !isTrying && (
        <Restored words="This form is already filled in." onStartOver={startOver} />
      )}
      <CustomerField {...fieldProps('customer')} />
      <TotalField {...fieldProps('total')} reading={form.readings.total} rule={rule} />
      <p className="soft rule">{rule}</p>
      {form.texts.replaces && <Replacing id={form.texts.replaces} />}
      <NoteField {...fieldProps('note')} />
      <FilesField files={files.value ?? []} onChange={files.keep} isReadOnly={isTrying} />
      <Similar
        customer={form.readings.customer.ok ? form.readings.customer.wire : undefined}
        total={form.readings.total.ok ? form.readings.total.wire : undefined}
      />
      <AttemptNote attempt={attempt} hasFieldFaults={faults !== undefined} onStop={stop} />
      <Actions isTrying={isTrying} onAnother={() => submit(true)} />
    </Form>
  )
}

function Actions({ isTrying, onAnother }: { isTrying: boolean; onAnother(): void }) {
  const router = useRouter()
  const canGoBack = useCanGoBack()
  function cancel() {
    dropDraft(place)
    dropDraft(filesPlace)
    if (canGoBack) router.history.back()
    else void router.navigate({ to: '/orders' })
  }
  return (
    <div className="row create-actions">
      <Submit id="create-submit" isClosed={isTrying}>
        {isTrying ? 'Creating …' : 'Create order'}
      </Submit>
      <Button className="button" aria-disabled={isTrying} onPress={onAnother}>
        Create and start another
      </Button>
      <Button className="button button-quiet" onPress={cancel} isDisabled={isTrying}>
        Cancel
      </Button>
    </div>
  )
}

/** The policy's rule for this total, for people who may read it. */
function useRule(total: TotalReading): string | undefined {
  const { data } = useQuery({ ...policyQuery, enabled: useMay('Orders.Read') })
  const row = data && rowFor(data.rows, total.ok ? total.wire : undefined)
  return row && `Rule: ${ruleInWords(row)}.`
}

const faultsOf = (attempt: Attempt) =>
  attempt.kind === 'failed' ? refusalsOf(attempt.failure, fieldNames) : undefined

/** Focuses the first rejected field, or the submit button if the focused one is gone. */
function useFocusAfterFailure(attempt: Attempt): void {
  useEffect(() => {
    if (attempt.kind !== 'failed' && attempt.kind !== 'stopped') return
    const faults = faultsOf(attempt)
    const faulty = faults && fieldNames.find((name) => faults[name] !== undefined)
    if (faulty) focusOn(faulty)
    else if (document.activeElement === document.body) focusOn('create-submit')
  }, [attempt])
}
