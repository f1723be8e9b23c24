import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { ColumnsIcon } from '../../ui/icons.tsx'
import { ModalDialog } from '../../ui/modal.tsx'
import { keepColumns, useColumns, usualColumns } from '../address/columns.ts'
import { type ColumnName, columnNames, columns } from '../fields.ts'

interface ColumnsButtonProps {
  /** The columns of the address, if it names some; then the address is changed. */
  inAddress: string | undefined
  onChoose(inAddress: string): void
}

const about: Partial<Record<ColumnName, string>> = {
  id: 'in a separate column',
  approvedBy: 'who gave the last approval, and how many others',
  approvalsMissing: 'how many a pending order still needs',
  updatedAtUtc: 'when it was last changed',
}

/** Chooses what the list shows. This browser keeps it, unless the address names columns. */
export function ColumnsButton({ inAddress, onChoose }: ColumnsButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const shown = useColumns(inAddress)
  function choose(names: readonly ColumnName[]) {
    if (inAddress === undefined) keepColumns(names)
    else onChoose(names.join())
  }
  const turn = (name: ColumnName, isOn: boolean) =>
    choose(columnNames.filter((each) => (each === name ? isOn : shown.includes(each))))
  return (
    <>
      <Button className="button button-quiet button-small" onPress={() => setOpen(true)}>
        <ColumnsIcon />
        Columns
      </Button>
      <ModalDialog title="Columns" isOpen={isOpen} onOpenChange={setOpen}>
        <div className="stack gap-2">
          {columnNames.map((name) => (
            <label key={name} className="row nowrap">
              <input
                type="checkbox"
                checked={shown.includes(name)}
                disabled={name === 'customer'}
                onChange={({ target }) => turn(name, target.checked)}
              />
              <span>
                {columns[name].heading}
                {about[name] && <span className="soft small"> {about[name]}</span>}
              </span>
            </label>
          ))}
        </div>
        <div className="row dialog-actions">
          <Button className="button button-quiet" onPress={() => choose(usualColumns)}>
            Reset to default
          </Button>
          <Button className="button" slot="close">
            Close
          </Button>
        </div>
      </ModalDialog>
    </>
  )
}
