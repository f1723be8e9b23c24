import { toasts } from './announce.ts'

/** The place where announcements appear. It is always there: screen readers watch it for changes. */
export function Announcements() {
  const shown = toasts.use()
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <div key={id} className="toast">
          {text}
        </div>
      ))}
    </div>
  )
}
