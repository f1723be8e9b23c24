import { Note } from '../../ui/note.tsx'
import { exportFailure } from './words.ts'

/** Why an export has no file. */
export function ExportFailure({ failure, role }: { failure: unknown; role?: 'status' }) {
  const { title, detail } = exportFailure(failure)
  return <Note kind="warning" role={role} title={title} lines={[detail, 'Nothing was saved.']} />
}
