import './create.css'
import { Link, useCanGoBack, useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useMay, useUser } from '../../auth/session.ts'
import { dropDraft, focusOn, refusalsOf, useForm } from '../../ui/draft.ts'
import { Form, Submit } from '../../ui/form.tsx'
import { PageHead, PageTitle } from '../../ui/page-title.tsx'
import { type Attempt, useCreation } from './attempt.ts'
import { CustomerField, TotalField } from './field.tsx'
import { type Draft, type FieldName, fieldNames, fields, place, prepareSending } from './form.ts'
import { AttemptNote } from './note.tsx'
import { OrderPreview } from './preview.tsx'

export function CreateOrderView() {
  if (!useMay('Orders.Create')) return <NotAllowed />
  return (
    <>
      <PageHead title="New order" />
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
  const form = useForm(place, user.id, fields)
  const navigate = useNavigate()
  // Back does not return to a form that is done.
  const { attempt, start, stop, forget } = useCreation(
    (id) => void navigate({ to: '/orders/$id', params: { id }, replace: true }),
  )
  const [sent, setSent] = useState<Draft>()
  const faults = faultsOf(attempt)
  const isTrying = attempt.kind === 'trying' || attempt.kind === 'created'
  // Before the title would take it.
  useLayoutEffect(() => void focusOn('customer'), [])
  useFocusAfterFailure(attempt)

  function submit() {
    if (isTrying) return
    const values = form.submit()
    if (values === undefined) return
    setSent(form.texts)
    void start(prepareSending(user.id, form.texts, values))
  }

  function startOver() {
    forget()
    form.drop()
    focusOn('customer')
  }

  const fieldProps = (name: FieldName) => ({
    ...form.field(name),
    isReadOnly: isTrying,
    // It is about the value that was sent, not about the next one.
    refusal: sent?.[name] === form.texts[name] ? faults?.[name] : undefined,
  })
  return (
    <div className="create">
      <Form
        className="card sheet stack gap-5 create-card"
        noValidate
        onSubmit={submit}
        aria-label="New order"
      >
        {form.isRestored && !isTrying && <Restored onStartOver={startOver} />}
        <CustomerField {...fieldProps('customer')} />
        <TotalField {...fieldProps('total')} reading={form.readings.total} />
        <AttemptNote attempt={attempt} hasFieldFaults={faults !== undefined} onStop={stop} />
        <Actions isTrying={isTrying} />
      </Form>
      <OrderPreview
        customer={form.texts.customer.trim()}
        total={form.readings.total}
        userName={user.userName}
      />
    </div>
  )
}

function Restored({ onStartOver }: { onStartOver: () => void }) {
  return (
    <p className="row row-between soft create-restored" role="status">
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
    dropDraft(place)
    if (canGoBack) router.history.back()
    else void router.navigate({ to: '/orders' })
  }
  return (
    <div className="row create-actions">
      <Submit id="create-submit" isClosed={isTrying}>
        {isTrying ? 'Creating …' : 'Create order'}
      </Submit>
      <Button className="button button-quiet" onPress={cancel} isDisabled={isTrying}>
        Cancel
      </Button>
    </div>
  )
}

const faultsOf = (attempt: Attempt) =>
  attempt.kind === 'failed' ? refusalsOf(attempt.failure, fieldNames) : undefined

/** On the first rejected field; or on the submit button if the focused one is gone. */
function useFocusAfterFailure(attempt: Attempt): void {
  useEffect(() => {
    if (attempt.kind !== 'failed' && attempt.kind !== 'stopped') return
    const faults = faultsOf(attempt)
    if (faults) focusOn(faults.customer === undefined ? 'total' : 'customer')
    else if (document.activeElement === document.body) focusOn('create-submit')
  }, [attempt])
}
