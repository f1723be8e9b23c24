import type { UseQueryResult } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, useId, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { useAction } from '../auth/action.ts'
import { useUser } from '../auth/session.ts'
import { announce } from '../ui/announce.ts'
import { useEdit } from '../ui/edit.ts'
import { Unread } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { Section } from '../ui/section.tsx'
import { AccountFields, type AccountValues, type Looks } from './fields.tsx'
import { Frame, type FrameProps } from './frame.tsx'
import { type Fields, Judged } from './judged.tsx'
import { AccountState, Refused } from './pieces.tsx'

interface AccountPageProps<Account> {
  useAccount(id: number): UseQueryResult<{ account: Account; etag: string }>
  /** Undefined until it is known. */
  titleOf(account: Account | undefined): string
  back: NonNullable<FrameProps['back']>
  children(account: Account, etag: string): ReactNode
}

/** The page of the account that the address names. */
export function AccountPage<Account>({ useAccount, titleOf, back, children }: AccountPageProps<Account>) {
  const { id } = useParams({ strict: false })
  const query = useAccount(Number(id))
  const { data } = query
  return (
    <Frame title={titleOf(data?.account)} back={back}>
      <Unread query={query} />
      {data && children(data.account, data.etag)}
    </Frame>
  )
}

interface DetailsProps<Name extends string> extends SavedProps<AccountValues<Name>> {
  id: number
  looks: Looks<Name>
}

/** The fields of an account, which are saved together. */
export function Details<Name extends string>({ id, looks, ...saved }: DetailsProps<Name>) {
  return (
    <EditForm
      {...saved}
      place={`account ${id}`}
      fields={({ value, onChange }) => <AccountFields looks={looks} values={value} onChange={onChange} />}
    />
  )
}

interface SavedProps<Value> {
  title: string
  loaded: Value
  etag: string
  /** Resolves to the tag of the new version. */
  send(value: Value, etag: string): Promise<string>
}

interface EditFormProps<Value extends object> extends SavedProps<Value> {
  /** Where the draft is kept. */
  place: string
  fields: Fields<Value>
  names?: readonly (keyof Value & string)[]
}

/** Fields that are saved together. */
export function EditForm<Value extends object>(props: EditFormProps<Value>) {
  const { title, place, loaded, etag, fields, names, send } = props
  const titleId = useId()
  const button = useRef<HTMLButtonElement>(null)
  const edit = useEdit(place, useUser().id, loaded, etag)
  const saving = useAction(
    (sent: typeof edit) => send(sent.value, sent.etag),
    (next, { value }) => {
      edit.saved(value, next)
      announce('Changes saved')
    },
  )
  const isClosed = saving.isPending || !edit.isChanged
  function load() {
    edit.drop()
    saving.reset()
    // The pressed button is gone.
    button.current?.focus()
    announce('Current version loaded')
  }
  return (
    <Form className="card card-stack" aria-labelledby={titleId} onSubmit={() => isClosed || saving.act(edit)}>
      <h2 id={titleId}>{title}</h2>
      <Judged
        value={edit.value}
        onChange={edit.change}
        fields={fields}
        names={names}
        sent={saving.variables?.value}
        failure={saving.error}
        onLoad={load}
      />
      <div className="row">
        <Submit ref={button} isClosed={isClosed}>
          {saving.isPending ? 'Saving …' : 'Save'}
        </Submit>
      </div>
    </Form>
  )
}

interface AccessProps {
  name: string
  enabled: boolean
  isInvited?: boolean
  onSwitch(enabled: boolean): Promise<unknown>
  /** Why another action of the section failed. */
  failure: unknown
  words: ReactNode
  buttons: ReactNode
}

/** Whether an account can sign in, and by what means. */
export function Access({ name, enabled, isInvited = false, onSwitch, failure, words, buttons }: AccessProps) {
  const switching = useAction(onSwitch, (_, isEnabled) =>
    announce(`${name} is ${isEnabled ? 'enabled' : 'disabled'}`),
  )
  return (
    <Section title="Access" aside={<AccountState enabled={enabled} isInvited={isInvited} />}>
      {words}
      <Refused failure={failure ?? switching.error} />
      <div className="row">
        {buttons}
        <Button className="button" onPress={() => switching.act(!enabled)}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      </div>
    </Section>
  )
}
