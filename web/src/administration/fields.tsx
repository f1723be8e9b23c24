import { useQuery } from '@tanstack/react-query'
import { Check } from '../ui/check.tsx'
import { Unread } from '../ui/failure.tsx'
import { Input, type InputProps } from '../ui/input.tsx'
import { rolesQuery } from './queries.ts'

/** The fields of an account, by their names in its form; an account has roles as well. */
export type Looks<Name extends string> = Readonly<Record<Name, InputProps>>
export type AccountValues<Name extends string> = { texts: Record<Name, string>; roles: string[] }

interface AccountFieldsProps<Name extends string> {
  looks: Looks<Name>
  values: AccountValues<Name>
  onChange(values: AccountValues<Name>): void
}

export function AccountFields<Name extends string>({ looks, values, onChange }: AccountFieldsProps<Name>) {
  const { texts, roles } = values
  return (
    <>
      {(Object.keys(looks) as Name[]).map((name) => (
        <Input
          key={name}
          {...looks[name]}
          spellCheck={false}
          value={texts[name]}
          onChange={({ target }) => onChange({ roles, texts: { ...texts, [name]: target.value } })}
        />
      ))}
      <RoleChecks held={roles} onChange={(next) => onChange({ texts, roles: next })} />
    </>
  )
}

function RoleChecks({ held, onChange }: { held: readonly string[]; onChange(roles: string[]): void }) {
  const query = useQuery(rolesQuery)
  return (
    <fieldset className="stack gap-2">
      <legend>Roles</legend>
      <Unread query={query} />
      {query.data?.map(({ name }) => (
        <Check
          key={name}
          isOn={held.includes(name)}
          onTurn={(isOn) => onChange(isOn ? [...held, name].sort() : held.filter((role) => role !== name))}
        >
          {name}
        </Check>
      ))}
    </fieldset>
  )
}
