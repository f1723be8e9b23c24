import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useAction } from '../ui/action.ts'
import { Form, Submit } from '../ui/form.tsx'
import { AccountFields, type AccountValues, type Looks } from './fields.tsx'
import { Frame } from './frame.tsx'
import { Refused } from './pieces.tsx'

interface AddAccountProps<Name extends string, Made> {
  title: string
  lead: string
  looks: Looks<Name>
  /** The text of the button: at rest, and while it sends. */
  action: readonly [string, string]
  cancelTo: '/accounts' | '/accounts/services'
  send(values: AccountValues<Name>): Promise<Made>
  /** Shown once the account exists. */
  children(made: Made, texts: Record<Name, string>): ReactNode
}

/** The form for a new account, and then its result. */
export function AddAccount<Name extends string, Made>(props: AddAccountProps<Name, Made>) {
  const { title, lead, looks, action, cancelTo, send, children } = props
  const [values, setValues] = useState<AccountValues<Name>>(() => ({ texts: blank(looks), roles: [] }))
  const adding = useAction(() => send(values))
  if (adding.isSuccess) {
    return (
      <Frame title={title}>
        <div className="card card-stack">{children(adding.data, values.texts)}</div>
      </Frame>
    )
  }
  return (
    <Frame title={title} lead={lead}>
      <Form className="card card-stack" onSubmit={() => adding.act()}>
        <AccountFields looks={looks} values={values} onChange={setValues} />
        <Refused failure={adding.error} />
        <div className="row">
          <Submit isClosed={adding.isPending}>{action[Number(adding.isPending)]}</Submit>
          <Link className="button button-quiet" to={cancelTo}>
            Cancel
          </Link>
        </div>
      </Form>
    </Frame>
  )
}

function blank<Name extends string>(looks: Looks<Name>): Record<Name, string> {
  return Object.fromEntries(Object.keys(looks).map((name) => [name, ''])) as Record<Name, string>
}
