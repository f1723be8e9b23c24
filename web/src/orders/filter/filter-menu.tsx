import { type RefObject, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useMayDecide } from '../../auth/absence.ts'
import { Check } from '../../ui/check.tsx'
import { formatDays } from '../../ui/format.ts'
import { CloseIcon, FilterIcon } from '../../ui/icons.tsx'
import { Menu, MenuPart } from '../../ui/menu.tsx'
import { Segments } from '../../ui/segments.tsx'
import { approvedByMeFilter, mineFilter, ownFilter, stateNames } from '../states.ts'
import { DayRange } from './day-range.tsx'
import { type Days, requiredDays, withDays } from './days.ts'
import { requiredStatus, restrictionsOf, withRestriction, withStatus } from './restrictions.ts'

const statuses = [{ label: 'All', value: null }, ...stateNames.map((name) => ({ label: name, value: name }))]
const anyDay = { from: '', to: '' }

/** Choices about the reader, each the only restriction of its field. */
const aboutMe = [
  {
    name: 'Waiting for you',
    field: 'waits',
    filter: mineFilter,
    mayChoose: (mayDecide: boolean) => mayDecide,
  },
  { name: 'Created by me', field: 'createdBy', filter: ownFilter, mayChoose: () => true },
  { name: 'Approved by me', field: 'approvedBy', filter: approvedByMeFilter, mayChoose: () => true },
] as const
type AboutMe = (typeof aboutMe)[number]

const isChosen = (text: string, { field }: AboutMe) =>
  (restrictionsOf(text, field) ?? []).some(
    ({ value, operator }) => value.toLowerCase() === 'me' && operator !== '!=',
  )
const withChoice = (text: string, { field, filter }: AboutMe, isOn: boolean) =>
  withRestriction(text, field, isOn ? filter : null)

interface ChoiceProps {
  /** The search. Each choice changes only its own part. */
  text: string
  /** The button of the menu. */
  trigger: RefObject<HTMLButtonElement | null>
  onChoose(text: string): void
}

interface FilterProps extends ChoiceProps {
  /** Like `onChoose`, for one of several choices that are one history entry. */
  onChooseDay(text: string): void
  /** Called before the first of those. */
  onBegin(): void
}

/** Filters that need no typing. */
export function FilterMenu({ text, trigger, onChoose, onChooseDay, onBegin }: FilterProps) {
  const [isOpen, setOpen] = useState(false)
  const mayDecide = useMayDecide()
  const ofAnyStatus = withStatus(text, null)
  const isOfAny = ofAnyStatus === text.trim()
  const fixed = <p className="soft">Edit the search itself to change this.</p>
  return (
    <Menu
      trigger={trigger}
      button={{ children: [<FilterIcon key="icon" />, <span key="name">Filter</span>] }}
      title="Filter"
      isOpen={isOpen}
      onOpenChange={setOpen}
    >
      <MenuPart name="Status">
        {ofAnyStatus === null ? (
          fixed
        ) : (
          <Segments
            name="list-status"
            legend="Status"
            options={statuses}
            value={isOfAny ? null : (requiredStatus(text) ?? undefined)}
            onChoose={(status) => onChoose(withStatus(text, status) ?? text)}
          />
        )}
        {aboutMe.map(
          (choice) =>
            choice.mayChoose(mayDecide) &&
            withChoice(text, choice, true) !== null && (
              <Check
                key={choice.name}
                isOn={isChosen(text, choice)}
                onTurn={(isOn) => onChoose(withChoice(text, choice, isOn) ?? text)}
              >
                {choice.name}
              </Check>
            ),
        )}
      </MenuPart>
      <MenuPart name="Created">
        {withDays(text, anyDay) === null ? (
          fixed
        ) : (
          <DayRange
            name="Created"
            days={requiredDays(text)}
            onChoose={(days) => onChooseDay(withDays(text, days) ?? text)}
            onFocus={onBegin}
          />
        )}
      </MenuPart>
      <Button className="button end" slot="close">
        Done
      </Button>
    </Menu>
  )
}

/** The choices that the search contains. A press removes one. */
export function Chips({ text, trigger, onChoose }: ChoiceProps) {
  const choices = [
    { name: requiredStatus(text), without: withStatus(text, null) },
    { name: inWords(requiredDays(text)), without: withDays(text, anyDay) },
    ...aboutMe.map((choice) => ({
      name: isChosen(text, choice) && choice.name,
      without: withChoice(text, choice, false),
    })),
  ].filter(({ name }) => name)
  function remove(without: string | null) {
    onChoose(without ?? text)
    trigger.current?.focus()
  }
  if (choices.length === 0) return null
  return (
    <ul className="row gap-1 chips" aria-label="Filters">
      {choices.map(({ name, without }) => (
        <li key={String(name)}>
          <button
            type="button"
            className="tag row nowrap gap-1 label small chip"
            aria-label={`Remove the filter ${name}`}
            onClick={() => remove(without)}
          >
            {name}
            <CloseIcon />
          </button>
        </li>
      ))}
    </ul>
  )
}

function inWords({ from, to }: Days): string {
  if (from !== '' && to !== '') return `Created ${formatDays(from, to)}`
  if (from !== '') return `Created from ${formatDays(from, from)}`
  return to && `Created until ${formatDays(to, to)}`
}
