import { Link } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, useState } from 'react'
import { useAction } from '../auth/action.ts'
import { Form, Submit } from '../ui/form.tsx'
import { AccountFields, type AccountValues, type Looks } from './fields.tsx'
import { Frame, type FrameProps } from './frame.tsx'
import { type Fields, Judged } from './judged.tsx'

interface WordsProps {
  title: string
  lead: string
  /** The text of the button: at rest, and while it sends. */
  action: readonly [string, string]
  cancelTo: '/accounts' | '/accounts/services' | '/webhooks'
}

interface AddAccountProps<Name extends string, Made> extends WordsProps {
  looks: Looks<Name>
  send(values: AccountValues<Name>): Promise<Made>
  /** Shown once the account exists. */
  children(made: Made, texts: Record<Name, string>): ReactNode
}

/** The form for a new account, and then its result. */
export function AddAccount<Name extends string, Made>(props: AddAccountProps<Name, Made>) {
  const { looks, children, ...words } = props
  return (
    <AddForm
      {...words}
      Frame={Frame}
      blank={{ texts: blank(looks), roles: [] }}
      fields={({ value, onChange }) => <AccountFields looks={looks} values={value} onChange={onChange} />}
    >
      {(made, { texts }) => children(made, texts)}
    </AddForm>
  )
}

function blank<Name extends string>(looks: Looks<Name>): Record<Name, string> {
  return Object.fromEntries(Object.keys(looks).map((name) => [name, ''])) as Record<Name, string>
}

interface AddFormProps<Value extends object, Made> extends WordsProps {
  Frame: ComponentType<FrameProps>
  blank: Value
  names?: readonly (keyof Value & string)[]
  fields: Fields<Value>
  send(value: Value): Promise<Made>
  /** Shown once it exists. */
  children(made: Made, value: Value): ReactNode
}

/** The form for something new, and then its result. */
export function AddForm<Value extends object, Made>(props: AddFormProps<Value, Made>) {
  const { Frame, title, lead, action, cancelTo, fields, names, send, children } = props
  const [value, setValue] = useState(props.blank)
  const adding = useAction(send)
  if (adding.isSuccess) {
    return (
      <Frame title={title}>
        <div className="card card-stack">{children(adding.data, value)}</div>
      </Frame>
    )
  }
  return (
    <Frame title={title} lead={lead}>
      <Form className="card card-stack" onSubmit={() => adding.act(value)}>
        <Judged
          value={value}
          onChange={setValue}
          fields={fields}
          names={names}
          sent={adding.variables}
          failure={adding.error}
        />
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
