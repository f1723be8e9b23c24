import './create.css'
import { Link, useCanGoBack, useNavigate, useRouter } from '@tanstack/react-router'
import { type FormEvent, useCallback, useEffect, useLayoutEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useMay, useUser } from '../../auth/session.ts'
import { PageTitle } from '../../ui/page-title.tsx'
import { type Attempt, useCreation } from './attempt.ts'
import { type Draft, dropDraft, prepareSending } from './draft.ts'
import { CustomerField, TotalField } from './field.tsx'
import { type FieldName, fieldFaultsOf, useOrderForm } from './form.ts'
import { AttemptNote } from './note.tsx'
import { OrderPreview } from './preview.tsx'

export function CreateOrderView() {
  if (!useMay('Orders.Create')) return <NotAllowed />
  return (
    <>
      <div className="row row-between page-head">
        <PageTitle title="New order" />
      </div>
      <NewOrder />
    </>
  )
}

function NotAllowed() {
  const { roles } = useUser()
  return (
    <div className="empty">
      <PageTitle title="You cannot create orders" />
      <p className="soft">
        {roles.length === 0 ? 'You have no role yet.' : `Your role is ${roles.join(', ')}.`} Your
        administrator can give you one that can create orders.
      </p>
      <Link to="/orders" className="button">
        Go to orders
      </Link>
    </div>
  )
}

function NewOrder() {
  const user = useUser()
  const form = useOrderForm(user.id)
  const { attempt, start, stop, forget } = useCreation(useLead())
  const [sent, setSent] = useState<Draft>()
  const faults = fieldFaultsOf(attempt)
  const isTrying = attempt.kind === 'trying' || attempt.kind === 'created'
  // Before the title would take it.
  useLayoutEffect(() => focusOn('customer'), [])
  useFocusAfterFailure(attempt)

  function submit(event: FormEvent) {
    event.preventDefault()
    if (isTrying) return
    form.checkAll()
    const { customer, total } = form
    if (customer.ok && total.ok) {
      setSent(form.draft)
      void start(prepareSending(user.id, { customer: customer.customer, total: total.wire }))
    } else focusOn(customer.ok ? 'total' : 'customer')
  }

  function startOver() {
    forget()
    form.startOver()
    focusOn('customer')
  }

  const fieldProps = (name: FieldName) => ({
    ...form.fieldProps(name),
    isReadOnly: isTrying,
    // Of the value that was sent, not of the next one.
    refusal: sent?.[name] === form.draft[name] ? faults?.[name] : undefined,
  })
  return (
    <div className="create">
      <form className="card create-card" noValidate onSubmit={submit} aria-label="New order">
        {form.isRestored && !isTrying && <Restored onStartOver={startOver} />}
        <CustomerField {...fieldProps('customer')} reading={form.customer} />
        <TotalField {...fieldProps('total')} reading={form.total} />
        <AttemptNote attempt={attempt} hasFieldFaults={faults !== undefined} onStop={stop} />
        <Actions isTrying={isTrying} />
      </form>
      <OrderPreview customer={form.draft.customer.trim()} total={form.total} userName={user.userName} />
    </div>
  )
}

function Restored({ onStartOver }: { onStartOver: () => void }) {
  return (
    <p className="row row-between create-restored" role="status">
      This form is already filled in.
      <Button className="button button-quiet button-small" onPress={onStartOver}>
        Start over
      </Button>
    </p>
  )
}

function Actions({ isTrying }: { isTrying: boolean }) {
  const router = useRouter()
  const canGoBack = useCanGoBack()
  function cancel() {
    dropDraft()
    if (canGoBack) router.history.back()
    else void router.navigate({ to: '/orders' })
  }
  return (
    <div className="row create-actions">
      {/* Stays where the focus is while it does nothing. */}
      <button id="create-submit" className="button button-primary" type="submit" aria-disabled={isTrying}>
        {isTrying ? 'Creating …' : 'Create order'}
      </button>
      <Button className="button button-quiet" onPress={cancel} isDisabled={isTrying}>
        Cancel
      </Button>
    </div>
  )
}

/** Back does not return to a form that is done. */
function useLead() {
  const navigate = useNavigate()
  return useCallback(
    (id: string) => void navigate({ to: '/orders/$id', params: { id }, replace: true }),
    [navigate],
  )
}

function focusOn(id: FieldName | 'create-submit'): void {
  document.getElementById(id)?.focus()
}

/** To the first field that the service found fault with; and never nowhere, when a button that had it is gone. */
function useFocusAfterFailure(attempt: Attempt): void {
  useEffect(() => {
    if (attempt.kind !== 'failed' && attempt.kind !== 'stopped') return
    const faults = fieldFaultsOf(attempt)
    if (faults) focusOn(faults.customer === undefined ? 'total' : 'customer')
    else if (document.activeElement === document.body) focusOn('create-submit')
  }, [attempt])
}
