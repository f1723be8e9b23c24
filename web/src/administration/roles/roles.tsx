import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useAction } from '../../auth/action.ts'
import { inWords } from '../../auth/permissions.ts'
import { announce } from '../../ui/announce.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { Form, Submit } from '../../ui/form.tsx'
import { CloseIcon } from '../../ui/icons.tsx'
import { Input } from '../../ui/input.tsx'
import { Frame } from '../frame.tsx'
import { Refused } from '../pieces.tsx'
import { addRole, allow, permissionsQuery, type Role, removeRole, rolesQuery } from '../queries.ts'

/** The permissions of each role, as a table of checkboxes. */
export function RolesView() {
  return (
    <Frame
      title="Roles"
      lead="Tick a box to give everyone with the role that permission. It takes effect within five minutes. Services never get a permission marked “people only”."
    >
      <RoleTable />
    </Frame>
  )
}

function RoleTable() {
  const roles = useQuery(rolesQuery)
  const permissions = useQuery(permissionsQuery)
  const changing = useAction(allow, (_, { role, permission, isAllowed }) =>
    announce(
      `${role} ${isAllowed ? 'has' : 'no longer has'} the permission: ${inWords([permission]).join()}`,
    ),
  )
  const removing = useAction(removeRole, (_, role) => announce(`The role ${role} has been removed`))
  const failureReason = roles.failureReason ?? permissions.failureReason
  if (roles.data === undefined || permissions.data === undefined) {
    return failureReason && <FailureNote failure={failureReason} />
  }
  const isHeld = ({ name: role, permissions: held }: Role, permission: string) => {
    const { isPending, variables } = changing
    const isOnItsWay = isPending && variables.role === role && variables.permission === permission
    return isOnItsWay ? variables.isAllowed : held.includes(permission)
  }
  return (
    <>
      <div className="card table admin-table admin-grid">
        <table>
          <caption className="visually-hidden">What each role may do</caption>
          <thead>
            <tr>
              <th scope="col">Permission</th>
              {roles.data.map((role) => (
                <th key={role.name} scope="col">
                  <RoleHead role={role} onRemove={() => removing.act(role.name)} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {permissions.data.map(({ name, services }) => (
              <tr key={name}>
                <th scope="row">
                  {inWords([name])}
                  {!services && <div className="soft small">people only</div>}
                </th>
                {roles.data.map((role) => (
                  <td key={role.name}>
                    <input
                      type="checkbox"
                      aria-label={`${role.name}: ${inWords([name])}`}
                      checked={isHeld(role, name)}
                      onChange={({ target }) =>
                        changing.act({ role: role.name, permission: name, isAllowed: target.checked })
                      }
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Refused failure={changing.error ?? removing.error} />
      <NewRole hasAuditor={roles.data.some(({ name }) => name === auditor.name)} />
    </>
  )
}

function RoleHead({ role: { name, accounts }, onRemove }: { role: Role; onRemove(): void }) {
  return (
    <>
      {name}
      <div className="small">{accounts === 1 ? '1 account' : `${accounts} accounts`}</div>
      {accounts === 0 && (
        <Button className="button button-quiet button-small" aria-label={`Remove ${name}`} onPress={onRemove}>
          <CloseIcon /> Remove
        </Button>
      )}
    </>
  )
}

/** A role that many need: it sees everything, and changes nothing. */
const auditor = { name: 'Auditor', permissions: ['Orders.Read', 'Log.Read'] } as const

function NewRole({ hasAuditor }: { hasAuditor: boolean }) {
  const [name, setName] = useState('')
  const addingAuditor = useAction(
    () => addRole(auditor.name, [...auditor.permissions]),
    () => announce('The role Auditor has been added. It can read all orders and the log.'),
  )
  const adding = useAction(
    (added: string) => addRole(added),
    (_, added) => {
      announce(`The role ${added} has been added. It has no permissions yet.`)
      setName((now) => (now === added ? '' : now))
    },
  )
  return (
    <Form className="card card-stack" aria-label="Add role" onSubmit={() => adding.act(name)}>
      <Input
        label="New role"
        value={name}
        missing="Enter a name for the role."
        spellCheck={false}
        onChange={({ target }) => setName(target.value)}
      />
      <Refused failure={adding.error ?? addingAuditor.error} />
      <div className="row">
        <Submit className="button" isClosed={adding.isPending}>
          Add role
        </Submit>
        {!hasAuditor && (
          <Button className="button" isDisabled={addingAuditor.isPending} onPress={() => addingAuditor.act()}>
            Add “Auditor”
          </Button>
        )}
      </div>
    </Form>
  )
}
