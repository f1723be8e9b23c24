import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { Unread } from '../ui/failure.tsx'
import { rolesQuery } from './queries.ts'

/** How a field of text looks. */
export interface TextLook {
  label: string
  hint?: string
  type?: 'text' | 'email' | 'date'
  isRequired?: boolean
  /** Texts that the field offers. */
  options?: readonly string[]
}

interface TextFieldProps extends TextLook {
  value: string
  onChange(text: string): void
}

export function TextField(props: TextFieldProps) {
  const { label, value, hint, type = 'text', isRequired, options, onChange } = props
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={value}
        list={options && `${id}-options`}
        max={type === 'date' ? '9999-12-31' : undefined}
        required={isRequired}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={hint && `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {options && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </div>
  )
}

/** The fields of an account, by their names in its form; an account has roles as well. */
export type Looks<Name extends string> = Readonly<Record<Name, TextLook>>
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
        <TextField
          key={name}
          {...looks[name]}
          value={texts[name]}
          onChange={(text) => onChange({ roles, texts: { ...texts, [name]: text } })}
        />
      ))}
      <RoleChecks held={roles} onChange={(next) => onChange({ texts, roles: next })} />
    </>
  )
}

function RoleChecks({ held, onChange }: { held: readonly string[]; onChange(roles: string[]): void }) {
  const query = useQuery(rolesQuery)
  return (
    <fieldset className="stack gap-2 admin-checks">
      <legend>Roles</legend>
      <Unread query={query} />
      {query.data?.map(({ name }) => (
        <label key={name} className="row">
          <input
            type="checkbox"
            checked={held.includes(name)}
            onChange={({ target }) =>
              onChange(target.checked ? [...held, name].sort() : held.filter((role) => role !== name))
            }
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}
