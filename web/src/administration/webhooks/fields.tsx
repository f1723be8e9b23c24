import './webhooks.css'
import { useId, useState } from 'react'
import { Check } from '../../ui/check.tsx'
import { ArrowIcon } from '../../ui/icons.tsx'
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
      <p className="field-hint">
        All events about a subject, those of later versions too, or single kinds. A restore of the database is
        always sent.
      </p>
      {choices.map((choice) => (
        <Subject key={choice.name} {...choice} chosen={chosen} onChange={onChange} />
      ))}
    </fieldset>
  )
}

/** All events about a subject, or those of single kinds. */
function Subject({ name, label, kinds, chosen, onChange }: (typeof choices)[number] & EventChecksProps) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const isWhole = chosen.includes(name)
  const single = kinds.filter((kind) => chosen.includes(kind.name))
  const others = chosen.filter((each) => each !== name && !kinds.some((kind) => kind.name === each))
  const turned = (turnedKind: (typeof kinds)[number], isOn: boolean) =>
    kinds.filter((kind) => (kind === turnedKind ? isOn : single.includes(kind))).map((kind) => kind.name)
  const choose = (own: string[]) => onChange([...others, ...own].sort())
  return (
    <div className="box webhook-subject">
      <div className="row row-between">
        <Check isOn={isWhole} onTurn={(isOn) => choose(isOn ? [name] : [])}>
          {label}
        </Check>
        <button
          type="button"
          className="button button-quiet button-small"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <span className="visually-hidden">{label}: </span>
          {isWhole ? 'every kind' : `${single.length} of ${kinds.length} kinds`}
          <ArrowIcon to={isOpen ? 'up' : 'down'} />
        </button>
      </div>
      <div id={id} className="webhook-kinds" hidden={!isOpen}>
        {kinds.map((kind) => (
          <Check
            key={kind.name}
            isOn={isWhole || single.includes(kind)}
            isDisabled={isWhole}
            onTurn={(isOn) => choose(turned(kind, isOn))}
          >
            <span>
              {kind.label} <span className="soft small code">{kind.name}</span>
            </span>
          </Check>
        ))}
      </div>
    </div>
  )
}
