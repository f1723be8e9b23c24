import { type ReactNode, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Heading'
import { useAction } from '../../auth/action.ts'
import { announce } from '../../ui/announce.ts'
import { EndNote } from '../../ui/failure.tsx'
import { Form, Submit } from '../../ui/form.tsx'
import { Input } from '../../ui/input.tsx'
import type { ListSearch } from '../address/address.ts'
import { contentOf, deleteView, keepView, type View } from './queries.ts'

export function NewView({ search, onDone }: { search: ListSearch; onDone(): void }) {
  const [view] = useState(() => ({ ...contentOf(search), id: crypto.randomUUID(), name: '' }))
  return <ViewForm title="Save this list" {...{ view, onDone }} done="saved" />
}

export function ChangeView({ view, onDone }: { view: View; onDone(): void }) {
  const [isSure, setSure] = useState(false)
  const deleting = useAction(
    () => deleteView(view.id),
    () => {
      announce(`${view.name} has been deleted.`)
      onDone()
    },
  )
  return (
    <ViewForm title="Change the view" {...{ view, onDone }} done="changed" failure={deleting.error}>
      <Button
        className="button button-quiet views-delete"
        onPress={() => (isSure ? deleting.act() : setSure(true))}
      >
        {isSure ? 'Really delete?' : 'Delete'}
      </Button>
    </ViewForm>
  )
}

interface FormProps {
  title: string
  view: View
  /** Its participle. */
  done: string
  /** Why another action failed. */
  failure?: unknown
  onDone(): void
  children?: ReactNode
}

function ViewForm({ title, view, done, failure, onDone, children }: FormProps) {
  const [name, setName] = useState(view.name)
  const keeping = useAction(
    () => keepView({ ...view, name }),
    () => {
      announce(`${name} has been ${done}.`)
      onDone()
    },
  )
  const shown = failure ?? keeping.error
  return (
    <Form className="stack" onSubmit={() => keeping.act()}>
      <Heading slot="title" level={2}>
        {title}
      </Heading>
      <div role="status">{shown != null && <EndNote failure={shown} />}</div>
      <Input
        label="Name"
        dir="auto"
        autoFocus
        missing="Enter a name for the view."
        maxLength={160}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <div className="row dialog-actions">
        {children}
        <Button className="button" onPress={onDone}>
          Back
        </Button>
        <Submit isClosed={keeping.isPending}>{keeping.isPending ? 'Saving …' : 'Save'}</Submit>
      </div>
    </Form>
  )
}
