import { Button } from 'react-aria-components/Button'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import { PlusIcon } from '../../ui/icons.tsx'

interface ChooseProps {
  isDisabled?: boolean
  onChosen(files: File[]): void
}

/** The button that opens the browser's dialog for files. */
export function ChooseFiles({ isDisabled = false, onChosen }: ChooseProps) {
  return (
    <div>
      <FileTrigger allowsMultiple onSelect={(files) => onChosen([...(files ?? [])])}>
        <Button className="button button-small" isDisabled={isDisabled}>
          <PlusIcon /> Add documents …
        </Button>
      </FileTrigger>
    </div>
  )
}
