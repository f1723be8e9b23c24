import { Button } from 'react-aria-components/Button'
import { announce } from '../../ui/announce.ts'
import { formatCount } from '../../ui/format.ts'
import { CloseIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import { ChooseFiles } from '../documents/choose.tsx'
import { faultOfFile, mostDocuments, sizeInWords, withFiles } from '../documents/files.ts'

interface FilesProps {
  files: readonly File[]
  onChange(files: readonly File[] | undefined): void
  isReadOnly: boolean
}

/** The documents of a new order. They are sent once it is created. */
export function FilesField({ files, onChange, isReadOnly }: FilesProps) {
  const change = (next: readonly File[]) => onChange(next.length > 0 ? next : undefined)
  function add(further: File[]) {
    for (const file of further) {
      const fault = faultOfFile(file)
      if (fault !== undefined) announce(`${file.name} was not added. ${fault}`)
    }
    change(
      withFiles(
        files,
        further.filter((file) => faultOfFile(file) === undefined),
      ),
    )
  }
  return (
    <fieldset className="field stack gap-2 create-files">
      <legend>Documents (optional)</legend>
      {files.length > 0 && (
        <ul className="stack gap-1">
          {files.map((file) => (
            <li key={file.name} className="row nowrap">
              <span className="clip">
                <Name of={file.name} />
              </span>
              <span className="soft small">{sizeInWords(file.size, formatCount)}</span>
              <Button
                className="button button-quiet button-small"
                aria-label={`Remove ${file.name}`}
                isDisabled={isReadOnly}
                onPress={() => change(files.filter((each) => each !== file))}
              >
                <CloseIcon />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <ChooseFiles isDisabled={isReadOnly || files.length >= mostDocuments} onChosen={add} />
      <p className="field-hint">Such as the offer or the contract: up to 5 files of 5 MiB.</p>
    </fieldset>
  )
}
