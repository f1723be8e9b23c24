import { Note } from '../../ui/note.tsx'
import { exportFailure } from './words.ts'

/** Why nothing was exported. */
export function ExportFailure({ failure, role }: { failure: unknown; role?: 'status' }) {
  const { title, detail } = exportFailure(failure)
  return <Note kind="warning" role={role} title={title} lines={[detail, 'Nothing was saved.']} />
}
