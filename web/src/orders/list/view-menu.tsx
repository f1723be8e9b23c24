import { type ReactNode, useRef, useState } from 'react'
import { ViewsIcon } from '../../ui/icons.tsx'
import { Menu, MenuPart } from '../../ui/menu.tsx'
import { Name } from '../../ui/name.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { ListSearch } from '../address/address.ts'
import { Export, type ExportProps } from '../export/export.tsx'
import { type Exporting, ordersExport } from '../export/running.ts'
import { shareWords } from '../export/words.ts'
import { useViews, type View, viewOf } from '../views/queries.ts'
import { Views } from '../views/views.tsx'
import { Columns, type ColumnsProps } from './columns.tsx'

interface ViewMenuProps {
  search: ListSearch
  /** The content of an export, once the list has come. */
  shown: ExportProps | undefined
  onColumns: ColumnsProps['onChoose']
}

/** Views of the list, its columns and its export. The button is named after the view that the list shows. */
export function ViewMenu({ search, shown, onColumns }: ViewMenuProps) {
  /** The part that has the focus. */
  const [opened, setOpened] = useState<'views' | 'export'>()
  const trigger = useRef<HTMLButtonElement>(null)
  const current = viewOf(search, useViews())
  useShortcut('l', () => setOpened('views'))
  useShortcut('e', shown && (() => setOpened('export')))
  function open() {
    setOpened(undefined)
    // The link that was pressed is gone.
    setTimeout(() => trigger.current?.focus())
  }
  return (
    <Menu
      trigger={trigger}
      button={{ 'aria-keyshortcuts': 'l e', ...buttonOf(current, ordersExport.use()) }}
      isOpen={opened !== undefined}
      onOpenChange={(isOpen) => setOpened(isOpen ? 'views' : undefined)}
    >
      <Views search={search} current={current} onOpen={open}>
        <MenuPart name="Columns">
          <Columns inAddress={search.columns} onChoose={onColumns} />
        </MenuPart>
        {shown && (
          <MenuPart name="Export">
            <Export {...shown} hasFocus={opened === 'export'} onSaved={() => setOpened(undefined)} />
          </MenuPart>
        )}
      </Views>
    </Menu>
  )
}

function buttonOf(current: View | undefined, exporting: Exporting) {
  const named = (name: ReactNode) => [
    <ViewsIcon key="icon" />,
    <span key="name" className="clip">
      {name}
    </span>,
  ]
  if (exporting.kind === 'running') {
    const name = `Exporting ${shareWords(exporting.count, exporting.of)}`
    return { children: named(name), 'aria-label': name }
  }
  if (current === undefined) return { children: named('View') }
  return { children: named(<Name of={current.name} />), 'aria-label': `View: ${current.name}` }
}
