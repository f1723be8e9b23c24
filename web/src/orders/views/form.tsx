import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Dialog'
import { useMay } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { EndNote, FailureNote } from '../../ui/failure.tsx'
import { Form, Submit } from '../../ui/form.tsx'
import { type ListSearch, sortOf } from '../address/address.ts'
import { columnsOf } from '../address/columns.ts'
import { columns, sortedWords } from '../fields.ts'
import { contentOf, deleteView, keepView, type View, viewQuery } from './queries.ts'

interface PlaceProps {
  search: ListSearch
  onDone(): void
}

export function NewView({ search, onDone }: PlaceProps) {
  const [id] = useState(() => crypto.randomUUID())
  const keeping = useMutation({
    mutationFn: ({ name, shared }: Answers) =>
      keepView({ id, content: { ...contentOf(search), name, shared } }),
    onSuccess: (_, { name }) => {
      announce(`${name} has been saved.`)
      onDone()
    },
  })
  return (
    <ViewForm
      title="Save this list"
      first={{ name: '', shared: false, isReplaced: true }}
      about={<WhatIsKept search={search} />}
      isBusy={keeping.isPending}
      failure={keeping.error}
      onSave={(answers) => keeping.mutate(answers)}
      onBack={onDone}
    />
  )
}

/** As it is now, not as the list of views has it: a change names the version that the person saw. */
export function ChangeView({ id, ...props }: PlaceProps & { id: string }) {
  const { data, failureReason, refetch } = useQuery({ ...viewQuery(id), staleTime: 0, gcTime: 0 })
  if (data !== undefined) return <Changing {...props} {...data} />
  return failureReason === null ? (
    <p aria-busy="true">Loading …</p>
  ) : (
    <FailureNote failure={failureReason} onRetry={() => void refetch()} />
  )
}

function Changing({ search, view, etag, onDone }: PlaceProps & { view: View; etag: string | undefined }) {
  const { id } = view
  const done = (action: string) => {
    announce(`${view.name} has been ${action}.`)
    onDone()
  }
  const changing = useMutation({
    mutationFn: ({ name, shared, isReplaced }: Answers) => {
      const { filter, sort, columns } = isReplaced ? contentOf(search) : view
      return keepView({ id, etag, content: { name, shared, filter, sort, columns } })
    },
    onSuccess: () => done('changed'),
  })
  const deleting = useMutation({
    mutationFn: () => deleteView({ id, etag }),
    onSuccess: () => done('deleted'),
  })
  const [isSure, setSure] = useState(false)
  return (
    <ViewForm
      title="Change the view"
      first={{ name: view.name, shared: view.shared, isReplaced: false }}
      replacing={<WhatIsKept search={search} />}
      isBusy={changing.isPending || deleting.isPending}
      failure={changing.error ?? deleting.error}
      onSave={(answers) => changing.mutate(answers)}
      onBack={onDone}
    >
      <Button
        className="button button-quiet views-delete"
        onPress={() => (isSure ? deleting.mutate() : setSure(true))}
      >
        {isSure ? 'Really delete?' : 'Delete'}
      </Button>
    </ViewForm>
  )
}

interface Answers {
  name: string
  shared: boolean
  /** By what the list shows now. */
  isReplaced: boolean
}

interface FormProps {
  title: string
  first: Answers
  about?: ReactNode
  /** What can replace it. */
  replacing?: ReactNode
  isBusy: boolean
  failure: unknown
  onSave(answers: Answers): void
  onBack(): void
  children?: ReactNode
}

function ViewForm({ title, first, about, replacing, isBusy, failure, onSave, onBack, children }: FormProps) {
  const [answers, setAnswers] = useState(first)
  const mayShare = useMay('Views.Share')
  const tick = (name: 'shared' | 'isReplaced', label: string) => (
    <label className="row nowrap">
      <input
        type="checkbox"
        checked={answers[name]}
        onChange={({ target }) => setAnswers({ ...answers, [name]: target.checked })}
      />
      {label}
    </label>
  )
  return (
    <Form className="stack" onSubmit={() => isBusy || onSave(answers)}>
      <Heading slot="title" level={2}>
        {title}
      </Heading>
      <div role="status">{failure != null && <EndNote failure={failure} />}</div>
      <div className="field">
        <label htmlFor="view-name">Name</label>
        <input
          id="view-name"
          dir="auto"
          autoComplete="off"
          // biome-ignore lint/a11y/noAutofocus: the dialog has just changed to this form
          autoFocus
          required
          maxLength={160}
          value={answers.name}
          onChange={({ target }) => setAnswers({ ...answers, name: target.value })}
        />
      </div>
      {about}
      {mayShare && tick('shared', 'Share it with everyone who can read orders')}
      {replacing && tick('isReplaced', 'Replace it with what the list shows now')}
      {answers.isReplaced && replacing}
      <div className="row dialog-actions">
        {children}
        <Button className="button" onPress={onBack}>
          Back
        </Button>
        <Submit isClosed={isBusy}>{isBusy ? 'Saving …' : 'Save'}</Submit>
      </div>
    </Form>
  )
}

/** Search, sort and columns in words. */
function WhatIsKept({ search }: { search: ListSearch }) {
  const { orderBy, order } = sortOf(search)
  const names = columnsOf(search.columns).map((name) => columns[name].heading)
  return (
    <dl className="facts soft small">
      <dt>Search</dt>
      <dd>{search.filter ? <code>{search.filter}</code> : 'every order'}</dd>
      <dt>Sort</dt>
      <dd>{sortedWords(orderBy, order)}</dd>
      <dt>Columns</dt>
      <dd>{names.join(', ')}</dd>
    </dl>
  )
}
