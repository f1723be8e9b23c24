import { Button } from 'react-aria-components/Button'
import { Check } from '../../ui/check.tsx'
import { keepColumns, useColumns, usualColumns } from '../address/columns.ts'
import { type ColumnName, columnNames, headingOf } from '../fields.ts'

export interface ColumnsProps {
  /** The columns that the address names, if any. If so, a choice changes the address. */
  inAddress: string | undefined
  onChoose(inAddress: string): void
}

/** Chooses what the list shows. This browser keeps it, unless the address names columns. */
export function Columns({ inAddress, onChoose }: ColumnsProps) {
  const shown = useColumns(inAddress)
  function choose(names: readonly ColumnName[]) {
    if (inAddress === undefined) keepColumns(names)
    else onChoose(names.join())
  }
  const turn = (name: ColumnName, isOn: boolean) =>
    choose(columnNames.filter((each) => (each === name ? isOn : shown.includes(each))))
  return (
    <div className="columns gap-2 view-columns">
      {columnNames.map((name) => (
        <Check
          key={name}
          isOn={shown.includes(name)}
          isDisabled={name === 'customer'}
          onTurn={(isOn) => turn(name, isOn)}
        >
          {headingOf(name)}
        </Check>
      ))}
      <Button className="button button-small" onPress={() => choose(usualColumns)}>
        Reset to default
      </Button>
    </div>
  )
}
