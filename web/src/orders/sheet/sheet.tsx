import './sheet.css'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useMay, useUser } from '../../auth/session.ts'
import { focusOn } from '../../ui/draft.ts'
import { Denied } from '../../ui/note.tsx'
import { PageHead } from '../../ui/page-title.tsx'
import { notation } from '../create/notation.ts'
import { SheetForm } from './form.tsx'
import { judge } from './judging.ts'
import { notationIn } from './notation.ts'
import { SheetProgress } from './progress.tsx'
import { recentQuery } from './queries.ts'
import { readSheet } from './reading.ts'
import type { Row } from './rows.ts'
import { begin, changeSheet, openSheet, sheet } from './sending.ts'
import { SheetTable } from './table.tsx'

/** Many orders at once: the rows of a spreadsheet, each of which is one order. */
export function SheetView() {
  const may = useMay('Orders.Create')
  return (
    <>
      <PageHead title="New orders from a spreadsheet" />
      {may ? <SheetOfOrders /> : <Denied what="create orders" />}
    </>
  )
}

function SheetOfOrders() {
  const user = useUser()
  useState(() => openSheet(user.id))
  const { text, sent, decimal: chosenDecimal, columns } = sheet.use()
  const [isWithoutDoubles, setWithoutDoubles] = useState(false)
  const [isWithoutSums, setWithoutSums] = useState(true)
  const heading = useRef<HTMLHeadingElement>(null)
  // Typing stays quick while a thousand rows are judged.
  const judged = useDeferredValue(text)
  const isSent = sent !== undefined
  const mayCompare = useMay('Orders.Read')
  const { data: recent, isError: isUncompared } = useQuery({
    ...recentQuery,
    enabled: mayCompare && !isSent && judged !== '',
  })
  const reading = useMemo(() => readSheet(judged, columns), [judged, columns])
  const column = useMemo(
    () => notationIn(reading.ok ? reading.rows.map(({ total }) => total) : [], notation),
    [reading],
  )
  const decimal = column.decimal ?? chosenDecimal
  const rows = useMemo(
    () => (reading.ok ? judge(reading.rows, isSent ? [] : recent, decimal) : []),
    [reading, recent, isSent, decimal],
  )
  const isLeftOut = ({ double, isSum }: Row) => (isWithoutDoubles && double) || (isWithoutSums && isSum)
  const chosen = rows.filter((row) => row.values && !isLeftOut(row))
  const isUndecided = column.doubt !== undefined && chosenDecimal === undefined
  const wasSent = useRef(isSent)
  useEffect(() => {
    // The button that was pressed is gone.
    if (isSent && !wasSent.current) heading.current?.focus()
    wasSent.current = isSent
  }, [isSent])

  function startOver(next = '') {
    changeSheet(next)
    setWithoutDoubles(false)
    setWithoutSums(true)
    // The field is not there yet.
    requestAnimationFrame(() => focusOn('sheet'))
  }

  function submit() {
    if (judged !== text || isUndecided) return
    if (chosen.length === 0) focusOn('sheet')
    else void begin(rows, chosen, user.id)
  }

  return (
    <div className="stack gap-5">
      {isSent ? (
        <SheetProgress rows={rows} headingRef={heading} onStartOver={startOver} />
      ) : (
        <SheetForm
          {...{ text, reading, rows, chosen, isUncompared, isUndecided }}
          {...{ isWithoutDoubles, isWithoutSums, decimal: chosenDecimal, doubt: column.doubt }}
          onTurn={setWithoutDoubles}
          onTurnSums={setWithoutSums}
          onSubmit={submit}
        />
      )}
      {rows.length > 0 && !(isUndecided && !isSent) && <SheetTable rows={rows} />}
    </div>
  )
}
