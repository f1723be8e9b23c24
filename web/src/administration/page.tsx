import { type UseQueryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, useId } from 'react'
import { Button } from 'react-aria-components/Button'
import { announce } from '../ui/announce.ts'
import { Unread } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { Section } from '../ui/section.tsx'
import { useDraft, useSaving } from './draft.ts'
import { AccountFields, type AccountValues, type Looks } from './fields.tsx'
import { Frame } from './frame.tsx'
import { AccountState, Refused } from './pieces.tsx'

/** An account and its version. */
interface Versioned<Account> {
  account: Account
  etag: string
}

interface AccountPageProps<Account, Key extends readonly unknown[]> {
  query(id: number): UseQueryOptions<Versioned<Account>, Error, Versioned<Account>, Key>
  /** Undefined until it is known. */
  titleOf(account: Account | undefined): string
  children(account: Account, etag: string): ReactNode
}

/** The page of the account that the address names. */
export function AccountPage<Account, Key extends readonly unknown[]>(props: AccountPageProps<Account, Key>) {
  const { id } = useParams({ strict: false })
  const query = useQuery(props.query(Number(id)))
  const { data } = query
  return (
    <Frame title={props.titleOf(data?.account)}>
      <Unread query={query} />
      {data && props.children(data.account, data.etag)}
    </Frame>
  )
}

interface DetailsProps<Name extends string> {
  title: string
  looks: Looks<Name>
  loaded: AccountValues<Name>
  etag: string
  /** Resolves to the tag of the new version. */
  send(values: AccountValues<Name>, etag: string): Promise<string>
}

/** The fields of an account, which are saved together. */
export function Details<Name extends string>({ title, looks, loaded, etag, send }: DetailsProps<Name>) {
  const titleId = useId()
  const draft = useDraft(loaded, etag)
  const saving = useSaving(draft, send)
  return (
    <Form className="card card-stack" aria-labelledby={titleId} onSubmit={saving.save}>
      <h2 id={titleId}>{title}</h2>
      <AccountFields looks={looks} values={draft.values} onChange={draft.change} />
      <Refused failure={saving.error} onLoad={saving.load} />
      <div className="row">
        <Submit ref={saving.button} isClosed={saving.isPending || !draft.isChanged}>
          {saving.isPending ? 'Saving …' : 'Save'}
        </Submit>
      </div>
    </Form>
  )
}

interface AccessProps {
  name: string
  enabled: boolean
  hasPassword?: boolean
  onSwitch(enabled: boolean): Promise<unknown>
  /** How other actions of the section failed. */
  failure: unknown
  words: ReactNode
  buttons: ReactNode
}

/** Whether an account can sign in, and by what. */
export function Access({ name, enabled, hasPassword, onSwitch, failure, words, buttons }: AccessProps) {
  const switching = useMutation({
    mutationFn: onSwitch,
    onSuccess: (_, isEnabled) => announce(`${name} is ${isEnabled ? 'enabled' : 'disabled'}`),
  })
  return (
    <Section title="Access" aside={<AccountState enabled={enabled} hasPassword={hasPassword} />}>
      {words}
      <Refused failure={failure ?? switching.error} />
      <div className="row">
        {buttons}
        <Button className="button" onPress={() => switching.isPending || switching.mutate(!enabled)}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      </div>
    </Section>
  )
}
