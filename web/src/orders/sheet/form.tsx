import { type ClipboardEvent, type DragEvent, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import { Check } from '../../ui/check.tsx'
import { focusOn } from '../../ui/draft.ts'
import { Field } from '../../ui/field.tsx'
import { Form, Submit } from '../../ui/form.tsx'
import { formatCount, formatOrders } from '../../ui/format.ts'
import { type Reading, sizeLimit, textOf } from './reading.ts'
import type { Row } from './rows.ts'
import { changeSheet } from './sending.ts'
import { headingsInWords, judgementInWords, sheetFaults } from './words.ts'

interface SheetFormProps {
  text: string
  reading: Reading
  rows: readonly Row[]
  /** The orders of the last day could not be read. */
  isUncompared: boolean
  isWithoutDoubles: boolean
  onTurn(isWithoutDoubles: boolean): void
  onSubmit(): void
}

/** Where a sheet is pasted, typed, dropped or chosen. */
export function SheetForm(props: SheetFormProps) {
  const { text, reading, rows, isWithoutDoubles } = props
  const [refused, setRefused] = useState<string>()
  const right = rows.filter(({ values }) => values !== undefined)
  const doubles = right.filter(({ double }) => double !== undefined)
  const count = right.length - (isWithoutDoubles ? doubles.length : 0)
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
        hint="Copy the columns customer and total in your spreadsheet and paste them here, or drop a CSV file. At most 1,000 rows."
        isRequired
        isLong
        input={{ className: 'sheet-text', spellCheck: false, onPaste: paste }}
        onChange={change}
      />
      <div className="stack" role="status">
        {rows.length > 0 && <p>{judgementInWords(rows)}</p>}
        {reading.ok && reading.headings && <p className="soft">{headingsInWords(reading.headings)}</p>}
        {props.isUncompared && (
          <p className="soft">These rows could not be compared with the orders of the last 24 hours.</p>
        )}
      </div>
      {doubles.length > 0 && (
        <Check isOn={isWithoutDoubles} onTurn={props.onTurn}>
          Skip {formatCount(doubles.length)} {doubles.length === 1 ? 'duplicate' : 'duplicates'}
        </Check>
      )}
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
