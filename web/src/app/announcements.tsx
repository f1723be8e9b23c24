import { toasts } from '../ui/announce.ts'

/**
 * Always rendered, because screen readers watch it for changes. React Aria must not hide it behind a dialog.
 */
export function Announcements() {
  const shown = toasts.use()
  return (
    <div className="toasts stack gap-2 no-print" role="status" aria-live="polite" data-react-aria-top-layer>
      {shown.map(({ id, text }) => (
        <div key={id} className="toast">
          {text}
        </div>
      ))}
    </div>
  )
}
