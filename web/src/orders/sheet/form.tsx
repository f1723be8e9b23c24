import { type ClipboardEvent, type DragEvent, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import { Check } from '../../ui/check.tsx'
import { focusOn } from '../../ui/draft.ts'
import { Field } from '../../ui/field.tsx'
import { Form, Submit } from '../../ui/form.tsx'
import { formatCount, formatOrders } from '../../ui/format.ts'
import type { Decimal } from './notation.ts'
import { type Reading, sizeLimit, textOf } from './reading.ts'
import type { Row } from './rows.ts'
import { changeSheet } from './sending.ts'
import { WhichColumns } from './which-columns.tsx'
import { WhichNumber } from './which-number.tsx'
import {
  headingsInWords,
  judgementInWords,
  numbersOf,
  rowsInWords,
  sheetFaults,
  sumInWords,
} from './words.ts'

interface SheetFormProps {
  text: string
  reading: Reading
  rows: readonly Row[]
  /** The rows that would be sent. */
  chosen: readonly Row[]
  /** A total that could be one of two numbers, and how the person reads it. */
  doubt: string | undefined
  decimal: Decimal | undefined
  isUndecided: boolean
  /** The orders of the last day could not be read. */
  isUncompared: boolean
  isWithoutDoubles: boolean
  isWithoutSums: boolean
  onTurn(isWithoutDoubles: boolean): void
  onTurnSums(isWithoutSums: boolean): void
  onSubmit(): void
}

/** Where a sheet is pasted, typed, dropped or chosen. */
export function SheetForm(props: SheetFormProps) {
  const { text, reading, rows, chosen, doubt, decimal, isUndecided, isWithoutDoubles, isWithoutSums } = props
  const [refused, setRefused] = useState<string>()
  const right = rows.filter(({ values }) => values !== undefined)
  const doubles = right.filter(({ double }) => double !== undefined)
  const sums = right.filter(({ isSum }) => isSum)
  const count = isUndecided ? 0 : chosen.length
  const fault = refused ?? (reading.ok ? undefined : reading.fault)

  function change(next: string) {
    setRefused(undefined)
    changeSheet(next)
  }

  async function take(file: File | undefined) {
    if (file === undefined) return
    // Looked at first: a large file would fill the memory.
    if (file.size > sizeLimit) setRefused(sheetFaults.size)
    else change(await textOf(file))
    focusOn('sheet')
  }

  function paste(event: ClipboardEvent) {
    if (event.clipboardData.getData('text/plain').length <= sizeLimit) return
    event.preventDefault()
    setRefused(sheetFaults.size)
  }

  function drop(event: DragEvent) {
    const [file] = event.dataTransfer.files
    if (file === undefined) return
    event.preventDefault()
    void take(file)
  }

  function submit() {
    if (text.trim() === '') setRefused(sheetFaults.empty)
    props.onSubmit()
  }

  return (
    <Form
      className="card sheet stack gap-5"
      noValidate
      onSubmit={submit}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      aria-label="Rows of the spreadsheet"
    >
      <Field
        id="sheet"
        label="Rows"
        text={text}
        fault={fault}
        hint="Paste the columns customer and total from your spreadsheet, and a column of notes if you have one, or drop a CSV file. At most 1,000 rows."
        isRequired
        isLong
        input={{ className: 'sheet-text', spellCheck: false, onPaste: paste }}
        onChange={change}
      />
      <div className="stack" role="status">
        {rows.length > 0 && !isUndecided && <p>{judgementInWords(rows)}</p>}
        {reading.ok && reading.headings && <p className="soft">{headingsInWords(reading.headings)}</p>}
        {props.isUncompared && (
          <p className="soft">These rows could not be compared with the orders of the last 24 hours.</p>
        )}
      </div>
      {reading.samples && <WhichColumns samples={reading.samples} />}
      {doubt !== undefined && <WhichNumber doubt={doubt} decimal={decimal} />}
      {sums.length > 0 && !isUndecided && (
        <Check isOn={isWithoutSums} onTurn={props.onTurnSums}>
          Skip {rowsInWords(sums.length)} that {sums.length === 1 ? 'looks' : 'look'} like a sum of others:{' '}
          {numbersOf(sums)}
        </Check>
      )}
      {doubles.length > 0 && !isUndecided && (
        <Check isOn={isWithoutDoubles} onTurn={props.onTurn}>
          Skip {formatCount(doubles.length)} {doubles.length === 1 ? 'duplicate' : 'duplicates'}
        </Check>
      )}
      {count > 0 && <p className="label">{sumInWords(chosen)}</p>}
      <div className="row create-actions">
        <Submit id="sheet-submit" isClosed={count === 0}>
          {count === 0 ? 'Create orders' : `Create ${formatOrders(count)}`}
        </Submit>
        <FileTrigger
          acceptedFileTypes={['.csv', '.tsv', '.txt', 'text/csv']}
          onSelect={(files) => void take(files?.[0])}
        >
          <Button className="button">Choose a CSV file</Button>
        </FileTrigger>
        {text !== '' && (
          <Button className="button button-quiet" onPress={() => [change(''), focusOn('sheet')]}>
            Clear
          </Button>
        )}
      </div>
    </Form>
  )
}
