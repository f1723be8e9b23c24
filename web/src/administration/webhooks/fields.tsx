import './webhooks.css'
import { Check } from '../../ui/check.tsx'
import { Input } from '../../ui/input.tsx'
import type { Fields } from '../judged.tsx'
import type { WebhookValues } from './queries.ts'
import { choices, refusalInWords } from './words.ts'

/** The fields of a webhook, under the names of the API. */
export const webhookFields: Fields<WebhookValues> = ({ value, onChange, refusals }) => (
  <>
    <Input
      id="url"
      label="Address"
      inputMode="url"
      spellCheck={false}
      missing="Enter the address of the receiver."
      hint="Such as https://erp.example.com/hooks."
      refusal={refusalInWords(refusals.url)}
      value={value.url}
      onChange={({ target }) => onChange({ ...value, url: target.value })}
    />
    <EventChecks chosen={value.events} onChange={(events) => onChange({ ...value, events })} />
  </>
)

/** The fields that show what the service found wrong. */
export const judgedFields = ['url'] as const

interface EventChecksProps {
  chosen: readonly string[]
  onChange(chosen: string[]): void
}

function EventChecks({ chosen, onChange }: EventChecksProps) {
  return (
    <fieldset className="stack gap-2">
      <legend>Events</legend>
      <p className="field-hint">Choose what to send.</p>
      {choices.map((choice) => (
        <Subject key={choice.name} {...choice} chosen={chosen} onChange={onChange} />
      ))}
      <details>
        <summary>Advanced: single kinds of events</summary>
        {choices.map((choice) => (
          <Kinds key={choice.name} {...choice} chosen={chosen} onChange={onChange} />
        ))}
      </details>
    </fieldset>
  )
}

type ChoiceProps = (typeof choices)[number] & EventChecksProps

/** All events about a subject, those of later versions too. */
function Subject({ name, label, kinds, chosen, onChange }: ChoiceProps) {
  const count = kinds.filter((kind) => chosen.includes(kind.name)).length
  return (
    <Check
      isOn={chosen.includes(name)}
      onTurn={(isOn) => onChange([...withoutSubject(chosen, name), ...(isOn ? [name] : [])].sort())}
    >
      <span>
        {label}
        {count > 0 && <span className="soft small"> {count === 1 ? '1 kind' : `${count} kinds`}</span>}
      </span>
    </Check>
  )
}

const withoutSubject = (chosen: readonly string[], name: string) =>
  chosen.filter((each) => each !== name && !each.startsWith(`${name}.`))

function Kinds({ name, label, kinds, chosen, onChange }: ChoiceProps) {
  const isWhole = chosen.includes(name)
  const turn = (kind: string, isOn: boolean) =>
    onChange([...chosen.filter((each) => each !== kind), ...(isOn ? [kind] : [])].sort())
  return (
    <fieldset className="columns webhook-kinds">
      <legend>{label}</legend>
      {kinds.map((kind) => (
        <Check
          key={kind.name}
          isOn={isWhole || chosen.includes(kind.name)}
          isDisabled={isWhole}
          onTurn={(isOn) => turn(kind.name, isOn)}
        >
          <span>
            {kind.label} <span className="soft small code">{kind.name}</span>
          </span>
        </Check>
      ))}
    </fieldset>
  )
}
