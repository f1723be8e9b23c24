import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Heading'
import { useAction } from '../../ui/action.ts'
import { announce } from '../../ui/announce.ts'
import { Check } from '../../ui/check.tsx'
import { Facts } from '../../ui/facts.tsx'
import { EndNote, ReadFailure } from '../../ui/failure.tsx'
import { Form, Submit } from '../../ui/form.tsx'
import { Input } from '../../ui/input.tsx'
import { type ListSearch, sortOf } from '../address/address.ts'
import { columnsOf } from '../address/columns.ts'
import { headingOf, sortedWords } from '../fields.ts'
import { contentOf, deleteView, keepView, type View, viewQuery } from './queries.ts'

interface PlaceProps {
  search: ListSearch
  onDone(): void
}

export function NewView({ search, onDone }: PlaceProps) {
  const [id] = useState(() => crypto.randomUUID())
  const keeping = useAction(
    ({ name }: Answers) => keepView({ id, content: { ...contentOf(search), name } }),
    (_, { name }) => {
      announce(`${name} has been saved.`)
      onDone()
    },
  )
  return (
    <ViewForm
      title="Save this list"
      first={{ name: '', isReplaced: true }}
      about={<WhatIsKept search={search} />}
      isBusy={keeping.isPending}
      failure={keeping.error}
      onSave={keeping.act}
      onBack={onDone}
    />
  )
}

/**
 * Loads the current view instead of the entry in the list of views, because a change names the version that
 * the person saw.
 */
export function ChangeView({ id, ...props }: PlaceProps & { id: string }) {
  const query = useQuery({ ...viewQuery(id), staleTime: 0, gcTime: 0 })
  if (query.data !== undefined) return <Changing {...props} {...query.data} />
  return query.failureReason === null ? <p aria-busy="true">Loading …</p> : <ReadFailure query={query} />
}

function Changing({ search, view, etag, onDone }: PlaceProps & { view: View; etag: string | undefined }) {
  const { id } = view
  const done = (action: string) => {
    announce(`${view.name} has been ${action}.`)
    onDone()
  }
  const changing = useAction(
    ({ name, isReplaced }: Answers) => {
      const { filter, sort, columns } = isReplaced ? contentOf(search) : view
      return keepView({ id, etag, content: { name, filter, sort, columns } })
    },
    () => done('changed'),
  )
  const deleting = useAction(
    () => deleteView({ id, etag }),
    () => done('deleted'),
  )
  const [isSure, setSure] = useState(false)
  return (
    <ViewForm
      title="Change the view"
      first={{ name: view.name, isReplaced: false }}
      replacing={<WhatIsKept search={search} />}
      isBusy={changing.isPending || deleting.isPending}
      failure={changing.error ?? deleting.error}
      onSave={changing.act}
      onBack={onDone}
    >
      <Button
        className="button button-quiet views-delete"
        onPress={() => (isSure ? deleting.act() : setSure(true))}
      >
        {isSure ? 'Really delete?' : 'Delete'}
      </Button>
    </ViewForm>
  )
}

interface Answers {
  name: string
  /** Whether to replace the content with what the list shows now. */
  isReplaced: boolean
}

interface FormProps {
  title: string
  first: Answers
  about?: ReactNode
  /** The content that can replace it. */
  replacing?: ReactNode
  isBusy: boolean
  failure: unknown
  onSave(answers: Answers): void
  onBack(): void
  children?: ReactNode
}

function ViewForm({ title, first, about, replacing, isBusy, failure, onSave, onBack, children }: FormProps) {
  const [answers, setAnswers] = useState(first)
  return (
    <Form className="stack" onSubmit={() => isBusy || onSave(answers)}>
      <Heading slot="title" level={2}>
        {title}
      </Heading>
      <div role="status">{failure != null && <EndNote failure={failure} />}</div>
      <Input
        label="Name"
        dir="auto"
        autoFocus
        missing="Enter a name for the view."
        maxLength={160}
        value={answers.name}
        onChange={({ target }) => setAnswers({ ...answers, name: target.value })}
      />
      {about}
      {replacing && (
        <Check isOn={answers.isReplaced} onTurn={(isReplaced) => setAnswers({ ...answers, isReplaced })}>
          Replace it with what the list shows now
        </Check>
      )}
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
  const names = columnsOf(search.columns).map(headingOf)
  return (
    <Facts
      className="soft small"
      of={{
        Search: search.filter ? <code>{search.filter}</code> : 'every order',
        Sort: sortedWords(orderBy, order),
        Columns: names.join(', '),
      }}
    />
  )
}
