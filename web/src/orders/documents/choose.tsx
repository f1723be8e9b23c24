import { useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { PlusIcon } from '../../ui/icons.tsx'

interface ChooseProps {
  name: string
  isDisabled?: boolean
  onChosen(files: File[]): void
}

/** The button that opens the browser's dialog for files. */
export function ChooseFiles({ name, isDisabled = false, onChosen }: ChooseProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <div>
      <Button className="button button-small" isDisabled={isDisabled} onPress={() => input.current?.click()}>
        <PlusIcon />
        {name}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={name}
        onChange={({ target }) => {
          onChosen([...(target.files ?? [])])
          // The same file can be chosen again.
          target.value = ''
        }}
      />
    </div>
  )
}
