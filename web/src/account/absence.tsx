import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { type Absence, absenceQuery } from '../auth/absence.ts'
import { useAction } from '../auth/action.ts'
import { announce } from '../ui/announce.ts'
import { EndNote, Unread } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { Section } from '../ui/section.tsx'
import { localTime } from './local-time.ts'
import { deputiesQuery, endAbsence, setAbsence } from './queries.ts'
import { AbsenceInWords } from './standing-in.tsx'

/** Names the person's deputy, and from when and until when they stand in. */
export function OwnAbsence() {
  const query = useQuery(absenceQuery)
  const { data } = query
  return (
    <Section title="Absence" className="absence">
      <Unread query={query} />
      {data && <AbsenceForm key={`${data.from} ${data.until} ${data.deputyId}`} absence={data} />}
    </Section>
  )
}

function AbsenceForm({ absence }: { absence: Absence }) {
  const isSet = absence.until !== null
  const [from, setFrom] = useState(localTime(absence.from))
  const [until, setUntil] = useState(localTime(absence.until))
  const [deputy, setDeputy] = useState(absence.deputy ?? '')
  const { data: deputies = [] } = useQuery(deputiesQuery(deputy))
  const setting = useAction(
    () => setAbsence({ from, until, deputy }),
    () => announce(isSet ? 'Absence changed' : 'Absence set'),
  )
  const ending = useAction(endAbsence, () => announce('Absence ended'))
  const failure = setting.error ?? ending.error
  const isBusy = setting.isPending || ending.isPending
  return (
    <Form className="stack" onSubmit={() => isBusy || setting.act()}>
      <p className={isSet ? undefined : 'soft'}>
        {isSet ? (
          <AbsenceInWords absence={absence} whose="you" />
        ) : (
          'While you are away, a deputy can approve and reject orders in your place.'
        )}
      </p>
      <div className="columns">
        <Input
          label="Deputy"
          hint="Someone who can see orders. Type to search."
          options={deputies.map(({ name }) => name)}
          spellCheck={false}
          missing="Enter the name of your deputy."
          value={deputy}
          onChange={({ target }) => setDeputy(target.value)}
        />
        <Input
          label="From"
          hint="Leave empty to begin now."
          type="datetime-local"
          value={from}
          onChange={({ target }) => setFrom(target.value)}
        />
        <Input
          label="Until"
          type="datetime-local"
          missing="Enter when you will be back."
          value={until}
          onChange={({ target }) => setUntil(target.value)}
        />
      </div>
      <div role="status">{failure != null && <EndNote failure={failure} />}</div>
      <div className="row">
        <Submit isClosed={isBusy}>{isSet ? 'Change absence' : 'Set absence'}</Submit>
        {isSet && (
          <Button className="button" onPress={() => isBusy || ending.act()}>
            End absence
          </Button>
        )}
      </div>
    </Form>
  )
}
